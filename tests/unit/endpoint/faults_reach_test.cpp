#include "../../support/tls_server.h"
#include "client_fixture.h"

#include <gmock/gmock.h>

#include <cstdlib>

// How an endpoint is reached, and that its key stays between the two: cases F40, F41 and F46 of
// docs/endpoints.md, and what happens to connections.
namespace sweep::endpoint {
namespace {

using test::always;
using test::chunk;
using test::Fixture;
using test::http_response;
using test::in_turn;
using test::kPlain;
using test::RawServer;
using test::sse_response;
using testing::HasSubstr;
using testing::Not;

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }

  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(EndpointFaults, F40ProxiesOfTheEnvironmentButNeverForLoopback) {
  RawServer proxy(always(http_response("200 OK", kPlain)));
  const Environment http("http_proxy", proxy.url());
  const Environment all("ALL_PROXY", proxy.url());
  Fixture f(always(http_response("200 OK", kPlain)));
  (void)f.answer();
  EXPECT_TRUE(proxy.requests().empty());
  f.target.base_url = "http://model.invalid/v1";
  (void)f.answer();
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_THAT(proxy.requests()[0],
              HasSubstr("POST http://model.invalid/v1/chat/completions HTTP/1.1"));
  // A host that is to be reached directly is looked up here, and is not found.
  const Environment direct("NO_PROXY", "model.invalid");
  f.retry.max_attempts = 1;
  EXPECT_EQ(f.ask().index(), 1U);
  EXPECT_EQ(proxy.requests().size(), 1U);
}

TEST(EndpointFaults, F40TunnelsDoNotShowTheKeyToTheProxy) {
  RawServer proxy(always(http_response("403 Forbidden", "no")));
  Fixture f(always(""));
  f.target.base_url = "https://model.invalid/v1";
  f.target.route.proxy = "http://user:sesame@127.0.0.1:" + std::to_string(proxy.port());
  f.retry.max_attempts = 1;
  const auto result = f.ask();
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_THAT(proxy.requests()[0], HasSubstr("CONNECT model.invalid:443 HTTP/1.1"));
  EXPECT_THAT(proxy.requests()[0], Not(HasSubstr("sk-0123456789abcdef")));
  const auto& failure = std::get<EndpointFailure>(result);
  EXPECT_EQ(failure.kind, FailureKind::transport);
  EXPECT_THAT(failure.text, HasSubstr("403"));
  EXPECT_THAT(failure.text, Not(HasSubstr("sesame")));
}

TEST(EndpointFaults, F40LocalhostIsFoundOnEitherFamilyAndIpv6ByAddress) {
  Fixture four(always(http_response("200 OK", kPlain)));
  four.target.base_url = "http://localhost:" + std::to_string(four.server.port()) + "/v1";
  (void)four.answer();
  if (!RawServer::has_ipv6())
    GTEST_SKIP() << "no IPv6 loopback address on this machine";
  RawServer six(always(http_response("200 OK", kPlain)), RawServer::Listen::ipv6);
  for (const std::string& url :
       {six.url("/v1"), "http://localhost:" + std::to_string(six.port())}) {
    four.target.base_url = url;
    (void)four.answer();
  }
  EXPECT_EQ(six.requests().size(), 2U);
}

TEST(EndpointFaults, F40UnixSocketsStandForAHost) {
  RawServer socket(always(http_response("200 OK", kPlain)), RawServer::Listen::unix_socket);
  Fixture f(always(""));
  f.target.base_url = socket.url("/v1/");
  (void)f.answer();
  EXPECT_THAT(socket.requests().at(0), HasSubstr("POST /v1/chat/completions HTTP/1.1"));
  f.target.base_url = "http+unix://%2Fno%2Fsuch.sock/v1";
  f.retry.max_attempts = 1;
  EXPECT_THAT(std::get<EndpointFailure>(f.ask()).text, HasSubstr("%2Fno%2Fsuch.sock"));
}

TEST(EndpointFaults, F41CertificatesOfAnOwnCa) {
  sweep::test::TlsServer server(http_response("200 OK", kPlain));
  Fixture f(always(""));
  f.target.base_url = server.url("/v1");
  const auto untrusted = f.ask();
  const auto& failure = std::get<EndpointFailure>(untrusted);
  EXPECT_EQ(failure.attempts.size(), 1U);
  EXPECT_TRUE(failure.configuration);
  EXPECT_FALSE(failure.retry);
  EXPECT_THAT(failure.text, HasSubstr("SSL_CERT_FILE"));
  EXPECT_EQ(server.requests(), 0);
  f.target.route.ca_file = "/no/such.pem";
  EXPECT_TRUE(std::get<EndpointFailure>(f.ask()).configuration);
  f.target.route.ca_file = server.ca_file();
  EXPECT_EQ(f.answer().message.text, "hello");
  f.target.route.ca_file.clear();
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
    const Environment ca(name, server.ca_file());
    EXPECT_EQ(f.answer().message.text, "hello") << name;
  }
  EXPECT_EQ(server.requests(), 3);
}

const std::string kSecret = "sk-+/\"0123456789abcdef";

// The key as endpoints, proxies and gateways may show it.
const std::vector<std::string> kShown = {kSecret,
                                         R"(sk-+/\"0123456789abcdef)",
                                         R"(sk-+\/\"0123456789abcdef)",
                                         "sk-%2B%2F%220123456789abcdef",
                                         "sk-%2b%2f%220123456789abcdef",
                                         "c2stKy8iMDEyMzQ1Njc4OWFiY2RlZg",         // alone
                                         "eHNrLSsvIjAxMjM0NTY3ODlhYmNkZWY",        // after one byte
                                         "eHlzay0rLyIwMTIzNDU2Nzg5YWJjZGVm",       // after two
                                         "dXNlcjpzay0rLyIwMTIzNDU2Nzg5YWJjZGVm"};  // user:KEY

void expect_no_key(const std::string& text) {
  for (const char* part :
       {"0123456789abcdef", "MDEyMzQ1Njc4OW", "AxMjM0NTY3ODlh", "wMTIzNDU2Nzg5Y"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
}

void expect_no_key_anywhere(Fixture& f, const std::variant<Completion, EndpointFailure>& result) {
  expect_no_key(f.exchange.request);
  expect_no_key(f.exchange.response);
  for (const Try& one : f.exchange.tries) {
    expect_no_key(one.request + one.response + one.fault);
    for (const http::Header& header : one.headers)
      expect_no_key(header.name + header.value);
  }
  if (const auto* failure = std::get_if<EndpointFailure>(&result))
    expect_no_key(failure->text);
  const auto& attempts = result.index() == 0 ? std::get<Completion>(result).attempts
                                             : std::get<EndpointFailure>(result).attempts;
  for (const Attempt& attempt : attempts)
    expect_no_key(attempt.detail + attempt.partial);
}

TEST(EndpointFaults, F46KeysThatAreSentBackAreNotKept) {
  for (const std::string& shown : kShown)
    for (const char* status : {"401 Unauthorized", "307 Temporary Redirect", "503 X", "200 OK"}) {
      Fixture f(always(http_response(
          status,
          "{\"error\":{\"message\":\"bad key " + shown + " given\"}}",
          "X-Echo: " + shown + "\r\nLocation: http://h/" + shown + "?key=" + shown + "\r\n")));
      f.target.key = Secret(kSecret);
      f.retry.max_attempts = 2;
      expect_no_key_anywhere(f, f.ask());
    }
}

TEST(EndpointFaults, F46KeysInStreamsAndHistoriesAreNotKept) {
  // Over two deltas, whole and cut.
  const std::string stream = chunk(R"({"content":"my key is sk-+/\"01234"})") +
                             chunk(R"({"content":"56789abcdef, ok?"})", "\"stop\"");
  Fixture f(in_turn({sse_response(stream.substr(0, stream.size() - 60)),
                     sse_response(stream + "data: [DONE]\n\n")}));
  f.target.key = Secret(kSecret);
  const auto result = f.ask({{Speaker::user, "the tool printed " + kSecret + "!"}});
  ASSERT_EQ(result.index(), 0U);
  EXPECT_EQ(std::get<Completion>(result).message.text, "my key is [key], ok?");
  expect_no_key_anywhere(f, result);
  expect_no_key(std::get<Completion>(result).message.raw);
  // The model itself gets what was said.
  EXPECT_THAT(f.sent()["messages"][0]["content"].get<std::string>(), HasSubstr(kSecret));
}

RawServer::Answer kept(const std::string& head, const std::string& body) {
  RawServer::Answer answer{head + body};
  answer.keep = true;
  return answer;
}

TEST(EndpointConnections, AreUsedAgainAfterStreamsAndDocuments) {
  for (const bool stream : {false, true}) {
    Fixture f(
        [stream](const std::string&, int) {
          if (stream)
            return kept(sweep::test::kChunkedHead,
                        sweep::test::http_chunk(test::full_stream()) + "0\r\n\r\n");
          return kept(
              "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kPlain.size()) + "\r\n\r\n",
              kPlain);
        },
        Api::chat,
        stream);
    (void)f.answer();
    for (int i = 0; i < 5; ++i)
      ASSERT_EQ(f.endpoint->complete({{Speaker::user, "x"}}, {}, {}).index(), 0U);
    EXPECT_EQ(f.server.connections(), 1);
  }
}

TEST(EndpointConnections, ADeadOneIsReplacedWithoutAFailedTry) {
  Fixture f([](const std::string&, int number) {
    // The second request on the kept connection finds it closed, once it has been sent.
    if (number == 1)
      return RawServer::Answer{};
    return kept("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kPlain.size()) + "\r\n\r\n",
                kPlain);
  });
  (void)f.answer();
  const auto second = f.endpoint->complete({{Speaker::user, "x"}}, {}, {});
  ASSERT_EQ(second.index(), 0U);
  EXPECT_EQ(std::get<Completion>(second).attempts.size(), 1U);
  EXPECT_EQ(f.server.requests().size(), 3U);
}

TEST(EndpointConnections, LongHistoriesDoNotWaitForAContinueThatNeverComes) {
  Fixture f(always(http_response("200 OK", kPlain)));
  const auto result = f.ask({{Speaker::user, std::string(3 << 20, 'x')}});
  ASSERT_EQ(result.index(), 0U);
  const std::string request = f.server.requests().at(0);
  EXPECT_THAT(request.substr(0, 2000), Not(HasSubstr("Expect")));
  EXPECT_GT(request.size(), std::size_t{3} << 20);
}

TEST(EndpointConnections, APeerThatResetsTlsIsNoSignal) {
  for (const bool answers : {true, false}) {
    sweep::test::TlsServer server(answers ? "HTTP/1.1 200 OK\r\nContent-Length: " +
                                                std::to_string(kPlain.size()) + "\r\n\r\n" + kPlain
                                          : "",
                                  true);
    Fixture f(always(""));
    f.target.base_url = server.url("/v1");
    f.target.route.ca_file = server.ca_file();
    f.retry.max_attempts = 2;
    const auto result = f.ask({{Speaker::user, std::string(answers ? 1 : 8 << 20, 'x')}});
    ASSERT_EQ(result.index(), answers ? 0U : 1U)
        << (answers ? std::get<EndpointFailure>(result).text : "");
    if (!answers) {
      EXPECT_EQ(std::get<EndpointFailure>(result).attempts.size(), 2U);
      continue;
    }
    // The kept connection is reset meanwhile: closing it writes to a socket that is gone.
    server.reset_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(f.endpoint->complete({{Speaker::user, "x"}}, {}, {}).index(), 0U);
    server.reset_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    f.endpoint.reset();
  }
}

TEST(EndpointConnections, BytesAfterTheAnnouncedLengthAreNoAnswer) {
  // Shorter than announced is cut; longer is left unread, and the connection is not used again.
  const std::string surplus =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kPlain.size()) + "\r\n\r\n" + kPlain +
      "HTTP/1.1 500";
  Fixture f(always(surplus), Api::chat, false);
  EXPECT_EQ(f.answer().message.text, "hello");
  ASSERT_EQ(f.endpoint->complete({{Speaker::user, "x"}}, {}, {}).index(), 0U);
}

}  // namespace
}  // namespace sweep::endpoint
