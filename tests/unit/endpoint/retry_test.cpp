#include "client_fixture.h"

#include <gmock/gmock.h>

namespace sweep::endpoint {
namespace {

using test::always;
using test::Fixture;
using test::full_stream;
using test::http_response;
using test::in_turn;
using test::kPlain;
using test::RawServer;
using test::sse_response;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Retry, WaitsAsLongAsTheEndpointAsks) {
  Fixture f(in_turn(
      {http_response(
           "429 Too Many Requests", R"({"error":{"message":"slow"}})", "Retry-After: 1\r\n"),
       http_response("200 OK", kPlain)}));
  std::vector<std::string> told;
  f.services.waiting = [&](const std::string& why, double) { told.push_back(why); };
  const Completion answer = f.answer();
  ASSERT_EQ(answer.attempts.size(), 2U);
  EXPECT_EQ(answer.attempts[0].outcome, "rate_limited");
  EXPECT_EQ(answer.attempts[1].outcome, "ok");
  EXPECT_GE(f.slept(), 1.0);
  EXPECT_LE(f.slept(), 2.0);
  EXPECT_THAT(told, ElementsAre("rate_limited"));
}

TEST(Retry, CutStreamsAreAskedAgain) {
  const std::string whole = full_stream();
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  Fixture f(in_turn({sse_response(whole.substr(0, whole.find("call_b"))),
                     head + "Content-Length: 99999\r\n\r\n" + whole.substr(0, 300),
                     sse_response("data: {\"choices\":[{\"delta\":{\"content\":\"no end\"}}]}\n\n"),
                     sse_response(whole)}));
  const Completion answer = f.answer();
  ASSERT_EQ(answer.attempts.size(), 4U);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(answer.attempts[static_cast<std::size_t>(i)].outcome, "transport");
  EXPECT_EQ(answer.message.calls.size(), 2U);
  // What came of the third was six letters; the prompt is charged each time.
  EXPECT_EQ(answer.attempts[2].lost_output, 6 / 4);
  EXPECT_GT(answer.attempts[2].lost_input, 10);
  EXPECT_EQ(answer.attempts[3].lost_input, -1);
}

TEST(Retry, AnAnswerThatNeverBeganCostsNothing) {
  Fixture f(in_turn({http_response("500 No", "{}"), http_response("200 OK", kPlain)}));
  const Completion answer = f.answer();
  ASSERT_EQ(answer.attempts.size(), 2U);
  EXPECT_EQ(answer.attempts[0].lost_input, -1);
}

TEST(Retry, GivesUpAfterTheLastTryAndSaysWhatToDo) {
  Fixture f(always(http_response(
      "502 Bad Gateway", "<html><h1>502 Bad Gateway</h1></html>", "Content-Type: text/html\r\n")));
  f.retry.max_attempts = 3;
  const auto result = f.ask();
  const auto& failure = std::get<EndpointFailure>(result);
  EXPECT_EQ(failure.kind, FailureKind::overloaded);
  EXPECT_EQ(failure.attempts.size(), 3U);
  EXPECT_TRUE(failure.retry);
  EXPECT_THAT(failure.text, HasSubstr("502"));
  EXPECT_THAT(failure.text, HasSubstr("after 3 tries"));
  EXPECT_THAT(failure.text, Not(HasSubstr("<html>")));
}

TEST(Retry, NeverRepeatsWhatCannotSucceed) {
  const std::vector<std::pair<std::string, FailureKind>> cases = {
      {http_response("401 Unauthorized",
                     R"({"error":{"message":"Incorrect API key provided: sk-0123456789abcdef"}})"),
       FailureKind::authentication},
      {http_response("404 Not Found", "{}"), FailureKind::not_an_endpoint},
      {http_response("307 Temporary Redirect", "", "Location: http://other.example/v1\r\n"),
       FailureKind::not_an_endpoint},
      {http_response("200 OK", "<html>login</html>"), FailureKind::not_an_endpoint},
      {http_response("400 Bad Request",
                     R"({"error":{"code":"context_length_exceeded","message":"too long"}})"),
       FailureKind::context_overflow},
      {http_response("429 Too Many", R"({"error":{"code":"insufficient_quota"}})"),
       FailureKind::quota},
      {http_response("429 Too Many", "{}", "Retry-After: 86400\r\n"), FailureKind::rate_limited},
      {http_response("400 Bad Request", R"({"error":{"message":"no such field"}})"),
       FailureKind::bad_request}};
  for (const auto& [bytes, kind] : cases) {
    Fixture f(always(bytes));
    const auto result = f.ask();
    const auto& failure = std::get<EndpointFailure>(result);
    EXPECT_EQ(failure.kind, kind) << bytes;
    EXPECT_EQ(f.server.requests().size(), 1U) << bytes;
    EXPECT_THAT(failure.text, Not(HasSubstr("sk-0123456789abcdef")));
    for (const Attempt& attempt : failure.attempts)
      EXPECT_THAT(attempt.detail, Not(HasSubstr("sk-0123456789abcdef")));
    EXPECT_THAT(f.exchange.response, Not(HasSubstr("sk-0123456789abcdef")));
  }
}

TEST(Retry, ErrorsInsideA200AreTakenForWhatTheyAre) {
  Fixture f(in_turn(
      {http_response("200 OK", R"({"error":{"code":429,"message":"busy"}})"),
       sse_response("data: {\"error\":{\"code\":\"server_error\",\"message\":\"died\"}}\n\n"),
       http_response("200 OK", R"({"choices":[]})"),
       http_response("200 OK", "{\"choices\":"),
       http_response("200 OK", kPlain)}));
  const Completion answer = f.answer();
  ASSERT_EQ(answer.attempts.size(), 5U);
  EXPECT_EQ(answer.attempts[0].outcome, "rate_limited");
  EXPECT_EQ(answer.attempts[1].outcome, "overloaded");
  EXPECT_EQ(answer.attempts[2].outcome, "protocol");
  EXPECT_EQ(answer.attempts[3].outcome, "protocol");
}

TEST(Retry, LeavesOutParametersThatTheEndpointRefuses) {
  Fixture f(in_turn(
      {http_response("400 Bad Request",
                     R"({"error":{"message":"Unsupported parameter: 'max_completion_tokens'"}})"),
       http_response("400 Bad Request",
                     R"({"error":{"param":"temperature","message":"not supported"}})"),
       http_response("200 OK", kPlain)}));
  f.settings.temperature = 0.5;
  f.settings.max_output_tokens = 100;
  const Completion answer = f.answer();
  EXPECT_THAT(answer.flags, Contains("param_dropped:temperature"));
  EXPECT_THAT(answer.flags, Contains("param_renamed:max_tokens"));
  EXPECT_EQ(f.sent(0)["temperature"], 0.5);
  EXPECT_EQ(f.sent(2)["max_tokens"], 100);
  EXPECT_FALSE(f.sent(2).contains("temperature"));
  EXPECT_EQ(f.slept(), 0.0);
}

TEST(Retry, CancellingEndsAWaitAndIsReported) {
  Fixture f(always(http_response("503 Service Unavailable", "{}", "Retry-After: 100\r\n")));
  f.services.cancelled = [&] { return f.clock.slept().size() > 3; };
  const auto result = f.ask();
  EXPECT_EQ(std::get<EndpointFailure>(result).kind, FailureKind::cancelled);
  EXPECT_LT(f.slept(), 2.0);
}

TEST(Permits, OnePerTryAndTokensAreReported) {
  struct Counting final : Permits {
    struct Slot final : Permit {
      explicit Slot(int& open) : open_(open) { ++open_; }

      Slot(const Slot&) = delete;
      Slot& operator=(const Slot&) = delete;

      ~Slot() override { --open_; }

      int& open_;
    };

    std::unique_ptr<Permit> take(std::int64_t tokens) override {
      EXPECT_GT(tokens, 0);
      ++taken;
      return std::make_unique<Slot>(open);
    }

    void used(std::int64_t, std::int64_t tokens) override { reported.push_back(tokens); }

    int open = 0, taken = 0;
    std::vector<std::int64_t> reported;
  } permits;

  Fixture f(in_turn({http_response("500 No", "{}"), http_response("200 OK", kPlain)}));
  f.services.permits = &permits;
  f.services.waiting = [&](const std::string&, double) { EXPECT_EQ(permits.open, 0); };
  (void)f.answer();
  EXPECT_EQ(permits.taken, 2);
  EXPECT_EQ(permits.open, 0);
  EXPECT_THAT(permits.reported, ElementsAre(-1, 14));
}

}  // namespace
}  // namespace sweep::endpoint
