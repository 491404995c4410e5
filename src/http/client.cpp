#include "http/client.h"

#include "http/curl.h"
#include "http/url.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace sweep::http {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxHeaderBytes = std::size_t{256} << 10;
constexpr int kPollMilliseconds = 100;
// After all that matters came, for the peer to end its answer: only then the connection can serve
// another request.
constexpr std::chrono::milliseconds kEndGrace{100};

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

bool bad_header(const Header& header) {
  const auto broken = [](const std::string& text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  };
  return header.name.empty() || broken(header.name) || broken(header.value) ||
         header.name.find(':') != std::string::npos;
}

// Everything about the transfer in progress; libcurl's callbacks point here.
struct Transfer {
  const Request* request = nullptr;
  const Receive* receive = nullptr;
  Response response;
  Clock::time_point started;
  Clock::time_point last_progress;
  std::size_t header_bytes = 0;
  bool first_byte = false;
  bool progressed = false;
  std::optional<Clock::time_point> finished;  // since when the receiver has all it wants
  std::optional<Fault> stopped;
  std::exception_ptr thrown;  // out of the receiver; exceptions must not cross libcurl
};

void note_status(Transfer& transfer, std::string_view line) {
  // "HTTP/1.1 200 OK" starts a new response: interim 1xx headers are dropped.
  const auto space = line.find(' ');
  transfer.response.headers.clear();
  transfer.response.status = 0;
  if (space != std::string_view::npos)
    for (char c : line.substr(space + 1, 3))
      transfer.response.status = std::isdigit(static_cast<unsigned char>(c)) == 0
                                     ? transfer.response.status
                                     : transfer.response.status * 10 + (c - '0');
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string_view line(data, size * count);
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > kMaxHeaderBytes) {
    transfer.stopped = Fault::too_large;
    return 0;
  }
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
    line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    note_status(transfer, line);
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    transfer.response.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  }
  return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view bytes(data, size * count);
  if (transfer.finished)
    return bytes.size();
  const auto now = Clock::now();
  if (!transfer.first_byte) {
    transfer.first_byte = true;
    transfer.response.first_byte_seconds =
        std::chrono::duration<double>(now - transfer.started).count();
  }
  const std::size_t room = transfer.request->limits.max_body - transfer.response.body.size();
  if (bytes.size() > room) {
    transfer.response.body.append(bytes.substr(0, room));
    transfer.stopped = Fault::too_large;
    return CURL_WRITEFUNC_ERROR;
  }
  transfer.response.body.append(bytes);
  auto& arrivals = transfer.response.arrivals;
  if (arrivals.size() == kMaxArrivals)
    arrivals.pop_back();
  arrivals.push_back({transfer.response.body.size(),
                      std::chrono::duration<double>(now - transfer.started).count()});
  const bool streamed =
      transfer.response.status >= 200 && transfer.response.status < 300 && *transfer.receive;
  Chunk chunk = Chunk::progress;
  try {
    if (streamed)
      chunk = (*transfer.receive)(bytes);
  } catch (...) {
    transfer.thrown = std::current_exception();
    return CURL_WRITEFUNC_ERROR;
  }
  if (chunk != Chunk::keepalive) {
    transfer.progressed = true;
    transfer.last_progress = now;
  }
  if (chunk == Chunk::finished)
    transfer.finished = now;
  return bytes.size();
}

// The clock that has run out, if any.
std::optional<Fault> expired(const Transfer& transfer) {
  const Limits& limits = transfer.request->limits;
  const auto now = Clock::now();
  if (now - transfer.started > limits.total)
    return Fault::timeout_total;
  if (!transfer.progressed)
    return now - transfer.started > limits.first_byte ? std::optional(Fault::timeout_first_byte)
                                                      : std::nullopt;
  if (now - transfer.last_progress > limits.idle)
    return Fault::timeout_idle;
  return std::nullopt;
}

std::string fault_text(Fault fault, const Transfer& transfer, const std::string& curl_text) {
  const Limits& limits = transfer.request->limits;
  const auto seconds = [](std::chrono::milliseconds value) {
    return std::to_string(static_cast<double>(value.count()) / 1000.0).substr(0, 6) + " s";
  };
  switch (fault) {
    case Fault::timeout_connect:
      return "no connection within " + seconds(limits.connect);
    case Fault::timeout_first_byte:
      return "no answer within " + seconds(limits.first_byte);
    case Fault::timeout_idle:
      return "no progress for " + seconds(limits.idle);
    case Fault::timeout_total:
      return "not finished within " + seconds(limits.total);
    case Fault::too_large:
      return "answer larger than " + std::to_string(limits.max_body) + " bytes";
    case Fault::cancelled:
      return "cancelled";
    default:
      return curl_text;
  }
}

}  // namespace

std::string_view name(Fault fault) {
  constexpr std::array<std::string_view, 14> names = {"bad_url",
                                                      "resolve",
                                                      "connect",
                                                      "tls",
                                                      "certificate",
                                                      "timeout_connect",
                                                      "timeout_first_byte",
                                                      "timeout_idle",
                                                      "timeout_total",
                                                      "too_large",
                                                      "cut",
                                                      "bad_encoding",
                                                      "cancelled",
                                                      "other"};
  return names.at(static_cast<std::size_t>(fault));
}

std::optional<std::string> Response::header(std::string_view name) const {
  const auto last = std::find_if(headers.rbegin(), headers.rend(), [name](const Header& header) {
    return same_name(header.name, name);
  });
  return last == headers.rend() ? std::nullopt : std::optional(last->value);
}

struct Client::Impl {
  std::unique_ptr<CURL, FreeEasy> easy;
  std::unique_ptr<CURLM, FreeMulti> multi;
  std::array<char, CURL_ERROR_SIZE> error{};

  void configure(const Request& request, const HeaderList& headers, Transfer& transfer);
  CURLcode drive(Transfer& transfer, const Cancelled& cancelled);
};

void Client::Impl::configure(const Request& request,
                             const HeaderList& headers,
                             Transfer& transfer) {
  CURL* handle = easy.get();
  curl_easy_reset(handle);
  error.fill(0);
  set(handle, CURLOPT_ERRORBUFFER, error.data());
  const UnixAddress socket = unix_address(request.url);
  set(handle, CURLOPT_URL, socket.path.empty() ? request.url.c_str() : socket.url.c_str());
  if (!socket.path.empty())
    set(handle, CURLOPT_UNIX_SOCKET_PATH, socket.path.c_str());
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  set(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  // "" also switches the environment off.
  set(handle, CURLOPT_PROXY, socket.path.empty() ? request.route.proxy.c_str() : "");
  set(handle, CURLOPT_NOPROXY, direct_hosts(request.route).c_str());
  set(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's refusal is not the endpoint's
  set(handle, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));  // keys never to a proxy
  set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  if (request.decode)
    set(handle, CURLOPT_ACCEPT_ENCODING, "");
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.limits.connect.count()));
  set(handle, CURLOPT_MAXAGE_CONN, 60L);
  set(handle, CURLOPT_USERAGENT, "sweep");
  set(handle, CURLOPT_HTTPHEADER, headers.get());
  set(handle, CURLOPT_HEADERFUNCTION, &on_header);
  set(handle, CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(handle, CURLOPT_WRITEFUNCTION, &on_body);
  set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  if (!request.route.ca_file.empty())
    set(handle, CURLOPT_CAINFO, request.route.ca_file.c_str());
  if (request.method == "GET") {
    set(handle, CURLOPT_HTTPGET, 1L);
  } else {
    set(handle, CURLOPT_POST, 1L);
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(handle, CURLOPT_POSTFIELDS, request.body.data());
    if (request.method != "POST")
      set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

CURLcode Client::Impl::drive(Transfer& transfer, const Cancelled& cancelled) {
  const NoPipeSignal quiet;
  const Attached attached(multi.get(), easy.get());
  for (;;) {
    int running = 0;
    check(curl_multi_perform(multi.get(), &running));
    if (running == 0)
      break;
    if (!transfer.stopped && cancelled && cancelled())
      transfer.stopped = Fault::cancelled;
    if (!transfer.stopped)
      transfer.stopped = expired(transfer);
    if (transfer.stopped || (transfer.finished && Clock::now() - *transfer.finished > kEndGrace))
      return CURLE_ABORTED_BY_CALLBACK;
    check(curl_multi_poll(multi.get(), nullptr, 0, kPollMilliseconds, nullptr));
  }
  int left = 0;
  CURLcode code = CURLE_FAILED_INIT;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left))
    if (message->msg == CURLMSG_DONE)
      code = message->data.result;
  return code;
}

Client::Client() : impl_(std::make_unique<Impl>()) {
  start_curl();
  impl_->easy.reset(curl_easy_init());
  impl_->multi.reset(curl_multi_init());
  if (!impl_->easy || !impl_->multi)
    throw util::InfraError({"http", "libcurl could not make a handle", "free some memory"},
                           "E_HTTP_INIT");
}

Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Client::~Client() {
  const NoPipeSignal quiet;  // TLS says goodbye
  impl_.reset();
}

Response Client::perform(const Request& request,
                         const Receive& receive,
                         const Cancelled& cancelled) {
  Transfer transfer;
  transfer.request = &request;
  transfer.receive = &receive;
  std::string problem = url_problem(request.url);
  HeaderList headers;
  headers.add("Expect:");  // a body above 1 MiB would wait a second for a 100
  for (const Header& header : request.headers) {
    if (bad_header(header))
      problem = "a header name or value with a line break";
    else
      headers.add(header.name + (header.value.empty() ? ";" : ": " + header.value));
  }
  if (!request.decode)
    headers.add("Accept-Encoding: identity");
  if (!problem.empty()) {
    transfer.response.fault = TransportFault{Fault::bad_url, problem, false};
    return std::move(transfer.response);
  }
  impl_->configure(request, headers, transfer);
  transfer.started = Clock::now();
  transfer.last_progress = transfer.started;
  const CURLcode code = impl_->drive(transfer, cancelled);
  transfer.response.seconds =
      std::chrono::duration<double>(Clock::now() - transfer.started).count();
  if (transfer.thrown)
    std::rethrow_exception(transfer.thrown);
  if (code != CURLE_OK && !transfer.finished) {
    const Fault fault = transfer.stopped.value_or(fault_of(code));
    const std::string curl_text =
        impl_->error[0] != 0 ? impl_->error.data() : curl_easy_strerror(code);
    transfer.response.fault =
        TransportFault{fault, fault_text(fault, transfer, curl_text), transfer.first_byte};
    long os_error = 0;
    if (fault == Fault::connect &&
        curl_easy_getinfo(impl_->easy.get(), CURLINFO_OS_ERRNO, &os_error) == CURLE_OK) {
      transfer.response.fault->os_error = static_cast<int>(os_error);
    }
  }
  return std::move(transfer.response);
}

}  // namespace sweep::http
