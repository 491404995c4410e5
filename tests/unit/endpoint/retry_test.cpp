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

// Keeps what it is asked and told; gives `most` permits, each after `seconds`.
struct FakePermits final : Permits {
  struct Slot final : Permit {
    explicit Slot(FakePermits& owner) : owner_(owner) { ++owner_.open; }

    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    ~Slot() override { --owner_.open; }

    bool settle(const record::TryEnd& end) override {
      owner_.ends.push_back(end);
      return owner_.pauses;
    }

    FakePermits& owner_;
  };

  std::unique_ptr<Permit> take(const record::Need& need) override {
    needs.push_back(need);
    if (clock != nullptr)
      clock->advance(seconds);
    return needs.size() > most ? nullptr : std::make_unique<Slot>(*this);
  }

  util::FakeClock* clock = nullptr;
  double seconds = 0;
  std::size_t most = 1000;
  bool pauses = false;
  int open = 0;
  std::vector<record::Need> needs;
  std::vector<record::TryEnd> ends;
};

using Result = record::TryEnd::Result;

TEST(Permits, OnePerTryAndItsEndIsTold) {
  FakePermits permits;
  Fixture f(in_turn({http_response("500 No", "{}"),
                     http_response("429 Slow", "{}", "Retry-After: 7\r\n"),
                     sse_response("data: {\"choices\":[{\"delta\":{\"content\":\"no end\"}}]}\n\n"),
                     http_response("200 OK", kPlain)}));
  f.services.permits = &permits;
  f.settings.max_output_tokens = 99;
  f.services.waiting = [&](const std::string&, double) { EXPECT_EQ(permits.open, 0); };
  (void)f.answer();
  EXPECT_EQ(permits.open, 0);
  ASSERT_EQ(permits.ends.size(), 4U);
  EXPECT_EQ(permits.ends[0].result, Result::transient);
  EXPECT_TRUE(permits.ends[0].first_try);
  EXPECT_FALSE(permits.ends[0].began);
  EXPECT_TRUE(permits.ends[0].reached);
  EXPECT_THAT(permits.ends[0].text, ::testing::StartsWith("HTTP 500 from 127.0.0.1:"));
  EXPECT_EQ(permits.ends[1].result, Result::throttled);
  EXPECT_EQ(permits.ends[1].retry_after, 7);
  EXPECT_EQ(permits.ends[2].result, Result::transient);
  EXPECT_TRUE(permits.ends[2].began);
  EXPECT_EQ(permits.ends[3].result, Result::answered);
  EXPECT_EQ(permits.ends[3].tokens, 14);
  EXPECT_FALSE(permits.ends[3].first_try);
  EXPECT_GT(permits.needs[0].prompt_tokens, 10);
  EXPECT_EQ(permits.needs[0].max_output_tokens, 99);
  // The next prompt is estimated from the last one, as the endpoint counted it.
  (void)f.endpoint->complete({{Speaker::user, "hi"}}, test::kTools, f.settings, {}, nullptr);
  EXPECT_EQ(permits.needs.back().prompt_tokens, 10);
}

// Hours of them: the request waits, and neither its deadline nor a number of tries ends it.
TEST(Permits, WithThemRateLimitsAreNoPartOfTheDeadline) {
  FakePermits permits;
  std::vector<std::string> answers(200, http_response("429 Slow", "{}", "Retry-After: 60\r\n"));
  answers.push_back(http_response("200 OK", kPlain));
  Fixture f(in_turn(answers));
  f.services.permits = &permits;
  f.retry.deadline = 600;
  EXPECT_EQ(f.answer().attempts.size(), 201U);
  EXPECT_GT(f.slept(), 200 * 60);
}

TEST(Permits, AServerThatIsNotThereIsNamed) {
  FakePermits permits;
  Fixture f(in_turn({http_response("500 No", "{}")}));
  f.target.base_url = "http://127.0.0.1:1/v1";
  f.services.permits = &permits;
  f.retry.max_attempts = 1;
  (void)f.ask();
  ASSERT_EQ(permits.ends.size(), 1U);
  EXPECT_FALSE(permits.ends[0].reached);
  EXPECT_EQ(permits.ends[0].text, "cannot reach 127.0.0.1:1 (connection refused)");
}

TEST(Permits, WaitingForThemIsNoPartOfDeadlinesOrLatency) {
  FakePermits permits;
  Fixture f(in_turn({http_response("500 No", "{}"), http_response("200 OK", kPlain)}));
  permits.clock = &f.clock;
  permits.seconds = 100'000;
  f.services.permits = &permits;
  f.retry.deadline = 60;
  const Completion answer = f.answer();
  ASSERT_EQ(answer.attempts.size(), 2U);
  for (const Attempt& attempt : answer.attempts) {
    EXPECT_LT(attempt.seconds, 60);
    EXPECT_GE(attempt.waited, 100'000);
  }
}

TEST(Permits, APausedRequestIsAskedAgainForAsLongAsItTakes) {
  FakePermits permits;
  permits.pauses = true;
  std::vector<std::string> answers(20, http_response("401 No", R"({"error":{"message":"key"}})"));
  answers.push_back(http_response("200 OK", kPlain));
  Fixture f(in_turn(answers));
  f.services.permits = &permits;
  EXPECT_EQ(f.answer().attempts.size(), 21U);
  EXPECT_EQ(permits.ends[0].result, Result::refused);
  EXPECT_THAT(permits.ends[0].text, HasSubstr("key"));
  EXPECT_EQ(f.slept(), 0) << "the permit is what it waits for";
}

// One request that is always refused (moderation, a firewall) must not hold all others for ever.
TEST(Permits, ARequestThatAloneIsRefusedFailsInTheEnd) {
  for (const bool later : {true, false}) {
    FakePermits permits;
    permits.pauses = true;
    Fixture f([&](const std::string& request, int) -> RawServer::Answer {
      const bool good = request.find("good") != std::string::npos;
      return {good ? http_response("200 OK", kPlain)
                   : http_response("403 Forbidden", R"({"error":{"message":"not this"}})")};
    });
    f.services.permits = &permits;
    f.endpoint = connect(f.target, f.retry, f.services);
    if (later) {
      ASSERT_EQ(f.endpoint->complete({{Speaker::user, "good"}}, {}, {}).index(), 0U);
    }
    const auto answer = f.endpoint->complete({{Speaker::user, "bad"}}, {}, {});
    ASSERT_EQ(answer.index(), 1U);
    const auto& failure = std::get<EndpointFailure>(answer);
    EXPECT_EQ(failure.attempts.size(), later ? 3U : 6U);
    EXPECT_TRUE(failure.configuration);
    EXPECT_THAT(failure.text, HasSubstr("not this"));
  }
}

TEST(Permits, AWaitThatIsGivenUpCancelsTheRequest) {
  FakePermits permits;
  permits.most = 0;
  Fixture f(always(http_response("200 OK", kPlain)));
  f.services.permits = &permits;
  EXPECT_EQ(std::get<EndpointFailure>(f.ask()).kind, FailureKind::cancelled);
  EXPECT_TRUE(f.server.requests().empty());
}

}  // namespace
}  // namespace sweep::endpoint
