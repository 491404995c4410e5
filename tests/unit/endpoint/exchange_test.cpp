#include "endpoint/exchange.h"

#include "client_fixture.h"
#include "endpoint/protocol.h"

#include <gmock/gmock.h>

namespace sweep::endpoint {
namespace {

using test::always;
using test::chunk;
using test::Fixture;
using test::full_stream;
using test::http_response;
using test::in_turn;
using test::kPlain;
using test::sse_response;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kKey = "sk-0123456789abcdef";  // the fixture's

TEST(Exchange, KeepsEveryTryWithItsTimes) {
  Fixture f(in_turn({http_response("429 Too Many Requests",
                                   R"({"error":{"message":"slow"}})",
                                   "Retry-After: 1\r\nSet-Cookie: session=1\r\n"),
                     sse_response(full_stream().substr(0, 200)),
                     sse_response(full_stream())}));
  (void)f.answer();
  ASSERT_THAT(f.exchange.tries, SizeIs(3));
  EXPECT_EQ(f.exchange.path, "/v1/chat/completions");
  const Try& first = f.exchange.tries[0];
  EXPECT_EQ(first.status, 429);
  EXPECT_EQ(first.outcome, "rate_limited");
  EXPECT_THAT(first.response, HasSubstr("slow"));
  std::string headers;
  for (const http::Header& header : first.headers)
    headers += header.name + "=" + header.value + ";";
  EXPECT_THAT(headers, HasSubstr("Retry-After=1;"));
  EXPECT_THAT(headers, HasSubstr("Set-Cookie=[filtered];"));
  const Try& cut = f.exchange.tries[1];
  EXPECT_EQ(cut.outcome, "transport");
  EXPECT_EQ(cut.response, full_stream().substr(0, 200));
  const Try& last = f.exchange.tries[2];
  EXPECT_EQ(last.outcome, "ok");
  EXPECT_EQ(last.request, f.exchange.request);
  EXPECT_EQ(last.response, f.exchange.response);
  ASSERT_FALSE(last.arrivals.empty());
  EXPECT_LE(last.first_byte_seconds, last.arrivals.back().seconds);
  EXPECT_LE(last.arrivals.back().seconds, last.seconds);
  EXPECT_LE(last.response.size() - 4, last.arrivals.back().bytes);
}

TEST(Exchange, NothingThatTheEndpointEchoesKeepsTheKey) {
  Fixture f(
      always(http_response("401 Unauthorized",
                           R"({"error":{"message":"Incorrect API key provided: )" + kKey + R"("}})",
                           "X-Debug: Bearer " + kKey + "\r\n")));
  const auto result = f.ask();
  EXPECT_THAT(std::get<EndpointFailure>(result).text, Not(HasSubstr(kKey)));
  const Try& one = f.exchange.tries.at(0);
  EXPECT_THAT(one.response, HasSubstr("[key]"));
  EXPECT_THAT(one.arrivals, IsEmpty());
  for (const http::Header& header : one.headers)
    EXPECT_THAT(header.value, Not(HasSubstr(kKey)));
}

TEST(Exchange, AKeyOverThePlaceWhereAMessageIsCutIsNotKeptInPart) {
  for (std::size_t before = 250; before < 310; before += 3) {
    Fixture f(always(http_response("400 Bad Request",
                                   R"({"error":{"message":")" + std::string(before, 'x') + kKey +
                                       std::string(200, 'y') + R"("}})")));
    const auto result = f.ask();
    const auto& failure = std::get<EndpointFailure>(result);
    EXPECT_THAT(failure.text, Not(HasSubstr(kKey.substr(0, 8)))) << before;
    EXPECT_THAT(failure.attempts.at(0).detail, Not(HasSubstr(kKey.substr(0, 8)))) << before;
  }
}

TEST(Exchange, AKeySplitOverEventsIsFoundInTheAssembledText) {
  const std::string stream =
      chunk(R"({"role":"assistant","content":"it is )" + kKey.substr(0, 7) + "\"}") +
      chunk("{\"content\":\"" + kKey.substr(7) + "\"}") + chunk("{}", "\"stop\"") +
      "data: [DONE]\n\n";
  Fixture f(always(sse_response(stream)));
  const Completion answer = f.answer();
  EXPECT_EQ(answer.message.text, "it is [key]");
  EXPECT_THAT(f.exchange.response, HasSubstr("it is [key]"));
  EXPECT_THAT(f.exchange.response, Not(HasSubstr(kKey.substr(7))));
  // What is kept in place of the events reads the same.
  const auto again = f.endpoint->parse(f.exchange);
  EXPECT_EQ(std::get<Completion>(again).message.text, "it is [key]");
}

TEST(Exchange, AKeyInEscapesIsFoundToo) {
  std::string escaped;
  for (const char c : kKey) {
    constexpr std::string_view digits = "0123456789abcdef";
    escaped += "\\u00";
    escaped += digits[static_cast<unsigned char>(c) >> 4];
    escaped += digits[static_cast<unsigned char>(c) & 15];
  }
  const std::string body =
      R"({"id":"c1","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":")" +
      escaped + R"("}}],"usage":{"prompt_tokens":1,"completion_tokens":1}})";
  Fixture f(always(http_response("200 OK", body)), Api::chat, false);
  EXPECT_EQ(f.answer().message.text, "[key]");
  EXPECT_THAT(f.exchange.response, Not(HasSubstr(escaped)));
}

TEST(Exchange, AnotherOriginTakesTheWireAndTheRecordKeepsThePath) {
  Fixture f(always(http_response("200 OK", kPlain)), Api::chat, false);
  f.target.instead = f.server.url("/item7");
  f.target.base_url = "https://api.example.com:8443/openai/v1";
  (void)f.answer();
  EXPECT_TRUE(f.server.requests().at(0).starts_with("POST /item7/openai/v1/chat/completions "));
  EXPECT_EQ(f.exchange.path, "/openai/v1/chat/completions");
  EXPECT_EQ(path_of("https://h"), "/");
  EXPECT_EQ(path_of("https://h/a?b=c#d"), "/a?b=c");
}

}  // namespace
}  // namespace sweep::endpoint
