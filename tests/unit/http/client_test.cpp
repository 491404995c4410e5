#include "http/client.h"

#include "../../support/raw_server.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace sweep::http {
namespace {

using test::http_response;
using test::RawServer;
using testing::HasSubstr;
using testing::Not;

Request post(const RawServer& server, std::string body = "{}") {
  Request request;
  request.url = server.url("/v1/x");
  request.body = std::move(body);
  request.limits.first_byte = std::chrono::seconds(20);
  return request;
}

RawServer::Handler always(std::string bytes, bool hold = false) {
  return [bytes = std::move(bytes), hold](const std::string&, int) {
    return RawServer::Answer{bytes, false, hold};
  };
}

TEST(HttpClient, SendsMethodHeadersAndBodyAsGiven) {
  RawServer server(always(http_response("200 OK", "{\"a\":1}", "X-One: 1\r\nX-One: 2\r\n")));
  Request request = post(server, std::string("a\0b", 3));
  request.headers = {{"api-key", "k"}, {"X-Empty", ""}};
  const Response response = Client().perform(request);
  EXPECT_FALSE(response.fault);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "{\"a\":1}");
  EXPECT_EQ(response.header("x-ONE"), "2");
  EXPECT_EQ(response.header("absent"), std::nullopt);
  const std::string sent = server.requests().at(0);
  EXPECT_THAT(sent, HasSubstr("POST /v1/x HTTP/1.1\r\n"));
  EXPECT_THAT(sent, HasSubstr("api-key: k\r\n"));
  EXPECT_THAT(sent, HasSubstr("X-Empty:"));
  EXPECT_EQ(RawServer::body_of(sent), std::string("a\0b", 3));
}

TEST(HttpClient, LargeBodyGoesWithoutExpectHeader) {
  RawServer server(always(http_response("200 OK", "ok")));
  const Response response = Client().perform(post(server, std::string(3 << 20, 'x')));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(server.requests().at(0).substr(0, 1000), Not(HasSubstr("Expect")));
}

TEST(HttpClient, DoesNotFollowRedirects) {
  RawServer other(always(http_response("200 OK", "wrong")));
  RawServer server(
      always(http_response("307 Temporary Redirect", "", "Location: " + other.url("/") + "\r\n")));
  Request request = post(server);
  request.headers = {{"api-key", "secret"}};
  const Response response = Client().perform(request);
  EXPECT_EQ(response.status, 307);
  EXPECT_EQ(response.header("location"), other.url("/"));
  EXPECT_TRUE(other.requests().empty());
}

// Sets a variable for a test's time.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }

  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(HttpClient, AsksTheEnvironmentForARouteOnlyWhenToldTo) {
  RawServer proxy(always(http_response("200 OK", "proxy")));
  const Variable one("http_proxy", proxy.url());
  const Variable two("all_proxy", proxy.url());
  Request request;
  request.url = "http://model.invalid/v1/x";
  EXPECT_EQ(Client().perform(request).fault->fault, Fault::resolve);
  request.route = environment_route(request.url);
  const Response response = Client().perform(request);
  EXPECT_EQ(response.body, "proxy");
  EXPECT_THAT(proxy.requests().at(0), HasSubstr("POST http://model.invalid/v1/x HTTP/1.1"));
  request.route.no_proxy = "other.invalid,.invalid";
  EXPECT_EQ(Client().perform(request).fault->fault, Fault::resolve);
}

TEST(HttpClient, RouteOfAnUrlFollowsTheUsualVariables) {
  const Variable upper("HTTP_PROXY", "http://never:1");
  const Variable secure("HTTPS_PROXY", "http://s:1");
  const Variable hosts("NO_PROXY", "a,b");
  const Variable ca("SSL_CERT_FILE", "/ca.pem");
  EXPECT_EQ(environment_route("http://h/v1").proxy, "");
  EXPECT_EQ(environment_route("https://h/v1").proxy, "http://s:1");
  const Variable all("all_proxy", "socks5://x:2");
  EXPECT_EQ(environment_route("http://h/v1").proxy, "socks5://x:2");
  EXPECT_EQ(environment_route("https://h/v1").proxy, "http://s:1");
  EXPECT_EQ(environment_route("https://h/v1").no_proxy, "a,b");
  EXPECT_EQ(environment_route("https://h/v1").ca_file, "/ca.pem");
}

TEST(HttpClient, LoopbackAndSocketsAreNeverProxied) {
  RawServer proxy(always(http_response("200 OK", "proxy")));
  RawServer server(always(http_response("200 OK", "direct")));
  RawServer socket(always(http_response("200 OK", "direct")), RawServer::Listen::unix_socket);
  Request request = post(server);
  request.route.proxy = proxy.url();
  request.route.no_proxy = "elsewhere";
  EXPECT_EQ(Client().perform(request).body, "direct");
  request.url = "http://localhost:" + std::to_string(server.port()) + "/";
  EXPECT_EQ(Client().perform(request).body, "direct");
  request.url = socket.url("/v1");
  EXPECT_EQ(Client().perform(request).body, "direct");
  EXPECT_TRUE(proxy.requests().empty());
}

TEST(HttpClient, ReachesUnixSocketsByTheirPath) {
  RawServer server(always(http_response("200 OK", "over a socket")),
                   RawServer::Listen::unix_socket);
  Request request;
  request.url = server.url("/v1/chat?x=1");
  EXPECT_EQ(Client().perform(request).body, "over a socket");
  EXPECT_THAT(server.requests().at(0), HasSubstr("POST /v1/chat?x=1 HTTP/1.1\r\nHost: localhost"));
  EXPECT_EQ(public_url(request.url), server.url("/v1/chat"));
  for (const char* url : {"http+unix:///v1", "http+unix://run/v1", "http+unix://%2Fa%00b/v1"}) {
    request.url = url;
    EXPECT_EQ(Client().perform(request).fault->fault, Fault::bad_url) << url;
  }
  request.url = "http+unix://%2Fno%2Fsuch.sock/v1";
  EXPECT_EQ(Client().perform(request).fault->fault, Fault::connect);
}

TEST(HttpClient, TellsCutAnswersApart) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  RawServer length(always(head + "Content-Length: 100\r\n\r\nabc"));
  RawServer chunked(always(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n9\r\nab"));
  RawServer nothing(always(""));
  for (RawServer* server : {&length, &chunked, &nothing}) {
    const Response response = Client().perform(post(*server));
    ASSERT_TRUE(response.fault);
    EXPECT_EQ(response.fault->fault, Fault::cut);
  }
  EXPECT_EQ(Client().perform(post(length)).body, "abc");
}

TEST(HttpClient, ClosedPortIsConnectFault) {
  std::string url;
  {
    RawServer server(always(""));
    url = server.url("/");
  }
  Request request;
  request.url = url;
  const Response response = Client().perform(request);
  ASSERT_TRUE(response.fault);
  EXPECT_EQ(response.fault->fault, Fault::connect);
  EXPECT_EQ(response.status, 0);
}

TEST(HttpClient, RefusesUrlsAndHeadersThatMustNotBeSent) {
  RawServer server(always(http_response("200 OK", "")));
  for (const char* url :
       {"", "ftp://h/", "file:///etc/passwd", "http://user:pw@127.0.0.1/", "not a url"}) {
    Request request;
    request.url = url;
    const Response response = Client().perform(request);
    ASSERT_TRUE(response.fault) << url;
    EXPECT_EQ(response.fault->fault, Fault::bad_url) << url;
  }
  Request request = post(server);
  request.headers = {{"X", "a\r\nY: b"}};
  EXPECT_EQ(Client().perform(request).fault->fault, Fault::bad_url);
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpClient, BoundsTheBody) {
  RawServer server(always(http_response("200 OK", std::string(100'000, 'x'))));
  Request request = post(server);
  request.limits.max_body = 1000;
  const Response response = Client().perform(request);
  ASSERT_TRUE(response.fault);
  EXPECT_EQ(response.fault->fault, Fault::too_large);
  EXPECT_LE(response.body.size(), 1000U);
}

TEST(HttpClient, EachClockHasItsOwnFault) {
  RawServer silent(always("", true));
  Request request = post(silent);
  request.limits.first_byte = std::chrono::milliseconds(150);
  EXPECT_EQ(Client().perform(request).fault->fault, Fault::timeout_first_byte);

  RawServer stalled(always("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", true));
  request = post(stalled);
  request.limits.idle = std::chrono::milliseconds(150);
  request.limits.first_byte = std::chrono::seconds(20);
  EXPECT_EQ(Client().perform(request).fault->fault, Fault::timeout_idle);
  request.limits.total = std::chrono::milliseconds(100);
  request.limits.idle = std::chrono::seconds(20);
  EXPECT_EQ(Client().perform(request).fault->fault, Fault::timeout_total);
}

TEST(HttpClient, KeepAliveBytesDoNotRearmTheIdleClock) {
  RawServer server([](const std::string&, int) {
    return RawServer::Answer{
        "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + std::string(1000, ':'), true, true};
  });
  Request request = post(server);
  request.limits.idle = std::chrono::milliseconds(200);
  bool first = true;
  const Response response = Client().perform(request, [&](std::string_view) {
    return std::exchange(first, false) ? Chunk::progress : Chunk::keepalive;
  });
  EXPECT_EQ(response.fault->fault, Fault::timeout_idle);
}

TEST(HttpClient, KeepAliveBytesAreNoFirstByte) {
  RawServer server([](const std::string&, int) {
    RawServer::Answer answer{"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n:"};
    answer.ping = ":";
    return answer;
  });
  Request request = post(server);
  request.limits.idle = std::chrono::milliseconds(1);
  request.limits.first_byte = std::chrono::milliseconds(300);
  const Response response =
      Client().perform(request, [](std::string_view) { return Chunk::keepalive; });
  EXPECT_EQ(response.fault->fault, Fault::timeout_first_byte);
  EXPECT_GT(response.body.size(), 1U);
}

TEST(HttpClient, ReceiverCanFinishEarlyAndCallerCanCancel) {
  RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", true));
  const Response done =
      Client().perform(post(server), [](std::string_view) { return Chunk::finished; });
  EXPECT_FALSE(done.fault);
  EXPECT_EQ(done.body, "abc");
  int asked = 0;
  const Response cancelled = Client().perform(post(server), {}, [&] { return ++asked > 2; });
  EXPECT_EQ(cancelled.fault->fault, Fault::cancelled);
}

TEST(HttpClient, ReceiverExceptionsReachTheCaller) {
  RawServer server(always(http_response("200 OK", "abc")));
  const Receive thrower = [](std::string_view) -> Chunk { throw std::runtime_error("mine"); };
  EXPECT_THROW((void)Client().perform(post(server), thrower), std::runtime_error);
}

TEST(HttpClient, ErrorBodiesAreCollectedButNotStreamed) {
  RawServer server(
      always(http_response("502 Bad Gateway", "<html>no</html>", "Content-Type: text/html\r\n")));
  bool called = false;
  const Response response = Client().perform(post(server), [&](std::string_view) {
    called = true;
    return Chunk::progress;
  });
  EXPECT_FALSE(called);
  EXPECT_EQ(response.body, "<html>no</html>");
}

TEST(HttpClient, DecodesGzipAndFlagsWrongEncoding) {
  // printf '{"a":1}' | gzip -n | xxd
  const unsigned char gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                              0x03, 0xab, 0x56, 0x4a, 0x54, 0xb2, 0x32, 0xac, 0x05,
                              0x00, 0xaf, 0xac, 0x1b, 0x56, 0x07, 0x00, 0x00, 0x00};
  const std::string packed(reinterpret_cast<const char*>(gz), sizeof gz);
  RawServer server(always(http_response("200 OK", packed, "Content-Encoding: gzip\r\n")));
  RawServer liar(always(http_response("200 OK", "{\"a\":1}", "Content-Encoding: gzip\r\n")));
  const Response response = Client().perform(post(server));
  EXPECT_EQ(response.body, "{\"a\":1}");
  EXPECT_EQ(Client().perform(post(liar)).fault->fault, Fault::bad_encoding);
}

TEST(HttpClient, PublicUrlHasNoSecrets) {
  EXPECT_EQ(public_url("https://u:p@h.example:8/v1/x?key=abc#f"), "https://h.example:8/v1/x");
  EXPECT_EQ(public_url("::"), "(no URL)");
}

}  // namespace
}  // namespace sweep::http
