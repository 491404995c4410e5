#pragma once

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sweep::test {

// An HTTPS peer on 127.0.0.1 with a certificate of its own making, which is its own CA. Gives every
// request the same answer and closes; an empty answer comes without the body having been read.
class TlsServer {
 public:
  // `reset`: connections end by a reset and without TLS's goodbye, 20 ms after an answer, so that
  // it has been read.
  explicit TlsServer(std::string answer, bool reset = false)
      : answer_(std::move(answer)), reset_(reset) {
    make_certificate();
    listen_loopback();
    thread_ = std::thread([this] { serve(); });
  }

  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  ~TlsServer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
    std::filesystem::remove(ca_file_);
  }

  [[nodiscard]] std::string url(const std::string& path) const {
    return "https://127.0.0.1:" + std::to_string(port_) + path;
  }

  // PEM file of the certificate.
  [[nodiscard]] const std::string& ca_file() const { return ca_file_; }

  [[nodiscard]] int requests() const { return requests_; }

  // Resets the connection that was answered last.
  void reset_now() { due_ = true; }

 private:
  template <auto Free>
  struct Freed {
    template <class T>
    void operator()(T* what) const {
      Free(what);
    }
  };

  template <class T, auto Free>
  using Owned = std::unique_ptr<T, Freed<Free>>;

  static void need(bool good) {
    if (!good)
      throw std::runtime_error("tls server");
  }

  void make_certificate() {
    key_.reset(EVP_RSA_gen(2048));
    certificate_.reset(X509_new());
    need(key_ && certificate_);
    X509* x = certificate_.get();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 86400);
    X509_set_pubkey(x, key_.get());
    const auto* name = reinterpret_cast<const unsigned char*>("sweep test");
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, name, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    for (const auto& [what, value] : {std::pair{NID_basic_constraints, "critical,CA:TRUE"},
                                      std::pair{NID_subject_alt_name, "IP:127.0.0.1"}}) {
      const Owned<X509_EXTENSION, X509_EXTENSION_free> extension(
          X509V3_EXT_conf_nid(nullptr, nullptr, what, value));
      need(extension && X509_add_ext(x, extension.get(), -1) == 1);
    }
    need(X509_sign(x, key_.get(), EVP_sha256()) > 0);
    ca_file_ = (std::filesystem::temp_directory_path() /
                ("tls-" + std::to_string(::getpid()) + "-" +
                 std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".pem"))
                   .string();
    const Owned<BIO, BIO_free> file(BIO_new_file(ca_file_.c_str(), "w"));
    need(file && PEM_write_bio_X509(file.get(), x) == 1);
    context_.reset(SSL_CTX_new(TLS_server_method()));
    need(context_ && SSL_CTX_use_certificate(context_.get(), x) == 1 &&
         SSL_CTX_use_PrivateKey(context_.get(), key_.get()) == 1);
  }

  void listen_loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(listener_ >= 0 && ::bind(listener_, raw, size) == 0 && ::listen(listener_, 16) == 0 &&
         ::getsockname(listener_, raw, &size) == 0);
    port_ = ntohs(address.sin_port);
  }

  void serve() {
    sigset_t pipe;  // the peer may leave during the handshake
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    pollfd item{listener_, POLLIN, 0};
    while (!stop_) {
      if (::poll(&item, 1, 20) <= 0)
        continue;
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const timeval patience{5, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      const Owned<SSL, SSL_free> tls(SSL_new(context_.get()));
      SSL_set_fd(tls.get(), fd);
      if (SSL_accept(tls.get()) == 1)
        answer(tls.get());
      ::close(fd);
    }
  }

  // As far as it is read: the head, and the announced body where there is an answer.
  [[nodiscard]] bool whole(const std::string& request) const {
    const std::size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos)
      return false;
    const std::size_t at = request.find("Content-Length: ");
    return answer_.empty() || at > end ||
           request.size() >= end + 4 + std::stoul(request.substr(at + 16));
  }

  void answer(SSL* tls) {
    std::string request;
    char buffer[16384];
    while (!whole(request)) {
      const int got = SSL_read(tls, buffer, sizeof buffer);
      if (got <= 0)
        return;
      request.append(buffer, static_cast<std::size_t>(got));
    }
    ++requests_;
    SSL_write(tls, answer_.data(), static_cast<int>(answer_.size()));
    if (!reset_)
      SSL_shutdown(tls);
    const linger at_once{1, 0};
    while (reset_ && !answer_.empty() && !due_.exchange(false) && !stop_)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (reset_)
      ::setsockopt(SSL_get_fd(tls), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

  std::string answer_;
  bool reset_;
  Owned<EVP_PKEY, EVP_PKEY_free> key_;
  Owned<X509, X509_free> certificate_;
  Owned<SSL_CTX, SSL_CTX_free> context_;
  std::string ca_file_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> due_{false};
  std::atomic<int> requests_{0};
  std::thread thread_;
};

}  // namespace sweep::test
