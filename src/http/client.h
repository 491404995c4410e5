#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::http {

struct Header {
  std::string name;
  std::string value;
};

// Four clocks, because one timeout cannot tell a thinking model from a dead peer. Only what the
// receiver calls progress ends `first_byte` and re-arms `idle`: headers, comments and pings do not.
struct Limits {
  std::chrono::milliseconds connect{10'000};      // name, TCP and TLS
  std::chrono::milliseconds first_byte{600'000};  // from the start to the first progress
  std::chrono::milliseconds idle{300'000};        // from one progress to the next
  std::chrono::milliseconds total{3'600'000};
  std::size_t max_body = std::size_t{64} << 20;  // bytes after decoding
};

// How a peer is reached. The environment is not asked here (environment_route does).
struct Route {
  std::string proxy;     // URL; empty: none. Loopback hosts and Unix sockets are never proxied
  std::string no_proxy;  // hosts, domains and networks that are reached directly, comma-separated
  std::string ca_file;   // PEM; empty: the system's
};

// Route of a URL from variables as curl knows them: https_proxy, HTTPS_PROXY or http_proxy by
// scheme, then all_proxy, ALL_PROXY; no_proxy, NO_PROXY; SSL_CERT_FILE, CURL_CA_BUNDLE.
[[nodiscard]] Route environment_route(std::string_view url);

struct Request {
  std::string method = "POST";
  // http or https without user and password; http+unix://%2Frun%2Fmodel.sock/v1 for a Unix socket,
  // whose path stands percent-encoded in the host's place.
  std::string url;
  std::vector<Header> headers;
  std::string body;
  Limits limits;
  Route route;
  // False: bodies are taken as they come, whatever Content-Encoding says, and identity is asked
  // for.
  bool decode = true;
};

// What a streaming receiver makes of the bytes it was given.
enum class Chunk {
  progress,   // re-arms the idle clock
  keepalive,  // comments, pings: does not
  finished,   // all that matters is here: ends the transfer within 0.2 s, without an error
};

using Receive = std::function<Chunk(std::string_view bytes)>;

// Asked at least five times a second; true ends the transfer with Fault::cancelled.
using Cancelled = std::function<bool()>;

enum class Fault {
  bad_url,      // not sent: scheme, syntax, credentials in the URL
  resolve,      // no such host
  connect,      // refused, unreachable
  tls,          // handshake
  certificate,  // the peer's is not trusted, or the CA file is not usable
  timeout_connect,
  timeout_first_byte,
  timeout_idle,
  timeout_total,
  too_large,     // more than Limits::max_body
  cut,           // ended before the announced end, reset, empty reply
  bad_encoding,  // body does not decode as its Content-Encoding says
  cancelled,
  other,
};

[[nodiscard]] std::string_view name(Fault fault);  // "timeout_idle"

struct TransportFault {
  Fault fault = Fault::other;
  std::string text;  // libcurl's words, without the URL's query and without header values
  bool received_bytes = false;
  int os_error = 0;  // errno of a connection that could not be made; 0: not known
};

// How much of a body had come by a moment.
struct Arrival {
  std::size_t bytes = 0;  // from the body's start
  double seconds = 0;     // since the request began
};

inline constexpr std::size_t kMaxArrivals = 4096;

// Status and headers of the final response; `body` holds what came before a fault as well, of one
// that is too large the first Limits::max_body bytes. A 3xx is
// returned as it is: redirects are never followed, since `api-key` headers would go to another
// host.
struct Response {
  int status = 0;  // 0: no status line came
  std::vector<Header> headers;
  std::string body;
  // One for each read. After the first kMaxArrivals the last one grows, so that memory is bounded.
  std::vector<Arrival> arrivals;
  std::optional<TransportFault> fault;
  double seconds = 0;             // whole transfer
  double first_byte_seconds = 0;  // until the first body byte; 0: none came

  // Value of the last header of that name, case ignored; none: nullopt.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
};

// Owns one libcurl easy and multi handle with its connections. One thread at a time. Never logs,
// never reads netrc, cookies, or the proxy environment. libcurl failing to start throws
// util::InfraError (E_HTTP_INIT); everything that a peer can cause is in the Response.
class Client {
 public:
  Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // `receive` gets the decoded body of responses with status 200-299 as it comes (it is collected
  // in Response::body too); bodies of other statuses are only collected.
  [[nodiscard]] Response perform(const Request& request,
                                 const Receive& receive = {},
                                 const Cancelled& cancelled = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "https://host:port/path" with user, password, query and fragment left out: for messages.
[[nodiscard]] std::string public_url(std::string_view url);

}  // namespace sweep::http
