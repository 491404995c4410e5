#include "http/curl.h"

#include <mutex>

namespace sweep::http {

void start_curl() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
      throw util::InfraError({"http", "libcurl could not be initialised", "check its installation"},
                             "E_HTTP_INIT");
  });
}

Fault fault_of(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return Fault::bad_url;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Fault::resolve;
    case CURLE_COULDNT_CONNECT:
      return Fault::connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
      return Fault::tls;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return Fault::certificate;
    case CURLE_OPERATION_TIMEDOUT:
      return Fault::timeout_connect;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return Fault::cut;
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR:  // how brotli's errors show; a receiver's own have another cause set
      return Fault::bad_encoding;
    default:
      return Fault::other;
  }
}

namespace {

sigset_t pipe_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

NoPipeSignal::NoPipeSignal() {
  sigset_t pending;
  sigpending(&pending);
  pending_ = sigismember(&pending, SIGPIPE) == 1;
  const sigset_t pipe = pipe_signal();
  pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

NoPipeSignal::~NoPipeSignal() {
  const sigset_t pipe = pipe_signal();
  const timespec at_once{};
  if (!pending_)
    sigtimedwait(&pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void check(CURLMcode code) {
  if (code != CURLM_OK)
    throw util::InfraError({"http", std::string("libcurl: ") + curl_multi_strerror(code), ""},
                           "E_HTTP_INIT");
}

}  // namespace sweep::http
