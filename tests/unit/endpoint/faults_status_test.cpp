#include "client_fixture.h"

#include <gmock/gmock.h>

// Answers that are none, by status, headers and words: cases F30 to F32, F38, F44, F45 and F47 of
// docs/endpoints.md.
namespace sweep::endpoint {
namespace {

using test::always;
using test::Fixture;
using test::http_response;
using test::in_turn;
using test::kPlain;
using test::RawServer;
using testing::HasSubstr;
using testing::Not;

EndpointFailure failed(Fixture& f) {
  auto result = f.ask();
  if (result.index() == 0)
    throw std::runtime_error("an answer came");
  return std::get<EndpointFailure>(std::move(result));
}

const std::string kPage =
    "<!DOCTYPE html><html><head><style>b{color:red}</style><script>var x = 1 < 2;</script></head>"
    "<body><h1>Bad gateway</h1><p>Ray 8a7</p>" +
    std::string(20'000, 'z') + "</body></html>";

TEST(EndpointFaults, F30PagesAreJudgedByTheirStatusAndShownBriefly) {
  for (const char* status : {"502 Bad Gateway", "503 Unavailable", "520 Unknown", "524 Timeout"}) {
    Fixture f(in_turn({http_response(status, kPage, "Content-Type: text/html\r\n"),
                       http_response("200 OK", kPlain)}));
    const Completion answer = f.answer();
    ASSERT_EQ(answer.attempts.size(), 2U) << status;
    EXPECT_EQ(answer.attempts[0].outcome, "overloaded");
    const std::string& detail = answer.attempts[0].detail;
    EXPECT_THAT(detail, HasSubstr("Bad gateway Ray 8a7"));
    EXPECT_LE(detail.size(), 340U);
    for (const char* code : {"<", "color", "var x"})
      EXPECT_THAT(detail, Not(HasSubstr(code)));
  }
}

TEST(EndpointFaults, F30PageWhereAnAnswerBelongsIsAWrongUrl) {
  for (const char* status : {"200 OK", "404 Not Found"}) {
    Fixture f(always(http_response(status, kPage, "Content-Type: text/html\r\n")));
    const EndpointFailure failure = failed(f);
    EXPECT_EQ(failure.kind, FailureKind::not_an_endpoint);
    EXPECT_TRUE(failure.configuration);
    EXPECT_EQ(failure.attempts.size(), 1U);
    EXPECT_THAT(failure.text, HasSubstr("base_url"));
  }
}

// Seconds waited after a refusal with these headers and words.
double waited_after(const std::string& headers,
                    const std::string& message = "slow down",
                    const std::string& status = "429 Too Many Requests") {
  Fixture f(in_turn({http_response(status, R"({"error":{"message":")" + message + "\"}}", headers),
                     http_response("200 OK", kPlain)}));
  const Completion answer = f.answer();
  EXPECT_EQ(answer.attempts.size(), 2U) << headers;
  EXPECT_NEAR(answer.attempts[1].waited, f.slept(), 1e-6);
  return f.slept();
}

// The wait is what was asked for and at most its double, or 5 s more.
void expect_wait(double asked, double waited, const std::string& what) {
  EXPECT_GE(waited, asked - 1e-9) << what;
  EXPECT_LE(waited, asked + std::min(asked, 5.0) + 1e-9) << what;
}

const std::string kDate = "Date: Sun, 06 Nov 1994 08:49:00 GMT\r\n";

TEST(EndpointFaults, F31EveryFormOfRetryAfterIsObeyed) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"Retry-After: 38\r\n", 38},
      {"retry-after: 2.5\r\n", 2.5},
      {"Retry-After: 0\r\n", 0.5},
      {"retry-after-ms: 1500\r\nRetry-After: 60\r\n", 1.5},
      {"retry-after-ms: soon\r\nRetry-After: 60\r\n", 60},
      {"retry-after-ms: -1\r\nRetry-After: 60\r\n", 60},
      // The server's own clock counts, however wrong it is.
      {kDate + "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 37},
      {kDate + "Retry-After: Sunday, 06-Nov-94 08:49:37 GMT\r\n", 37},
      {kDate + "Retry-After: Sun Nov  6 08:49:37 1994\r\n", 37},
      {kDate + "Retry-After: Sun, 06 Nov 1994 08:49:00 GMT\r\n", 0.5},
      {"x-ratelimit-reset-requests: 6s\r\nx-ratelimit-reset-tokens: 1m30s\r\n", 90},
      {"x-rate-limit-reset-tokens: 500ms\r\n", 0.5},
      {"x-ratelimit-reset-tokens: 7\r\n", 7},
      {kDate + "x-ratelimit-reset-requests: 1994-11-06T08:49:20Z\r\n", 20},
      {"Retry-After: 9\r\nx-ratelimit-reset-requests: 6s\r\n", 9},
      {"Retry-After: tomorrow\r\nx-ratelimit-reset-requests: 6s\r\n", 6}};
  for (const auto& [headers, asked] : cases)
    expect_wait(asked, waited_after(headers), headers);
  // FakeClock's time, where the answer has no Date.
  expect_wait(20, waited_after("Retry-After: Tue, 14 Nov 2023 22:13:40 GMT\r\n"), "local clock");
}

TEST(EndpointFaults, F31WordsOfDelayAreUnderstood) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"Rate limit reached. Please try again in 20s.", 20},
      {"Please try again in 1.5s. Visit our page", 1.5},
      {"Please try again in 250ms", 0.5},
      {"Please try again in 1m30.5s.", 90.5},
      {"Please retry after 7 seconds.", 7},
      {"please retry in 32.5s", 32.5}};
  for (const auto& [words, asked] : cases)
    expect_wait(asked, waited_after("", words), words);
}

TEST(EndpointFaults, F31UnusableFormsLeaveTheOwnBackoff) {
  for (const std::string form : {"-5",
                                 "nan",
                                 "inf",
                                 "1e999",
                                 "later",
                                 "",
                                 "0x10",
                                 "12 parsecs",
                                 "Sun, 06 Nov 1994 08:48:00 GMT"}) {
    const double waited = waited_after(kDate + "Retry-After: " + form + "\r\n");
    EXPECT_GE(waited, 0.5) << form;
    EXPECT_LE(waited, 1.0) << form;
  }
  const double azure = waited_after(
      "x-ratelimit-remaining-requests: -1\r\nx-ratelimit-reset-requests: 0\r\n"
      "x-ratelimit-reset-tokens: -1\r\n");
  EXPECT_LE(azure, 1.0);
}

TEST(EndpointFaults, F31LongerThanTheCapIsGivenBackAtOnce) {
  for (const char* form : {"Retry-After: 86400\r\n",
                           "retry-after-ms: 1e12\r\n",
                           "Retry-After: Sun, 06 Nov 2394 08:49:37 GMT\r\n"}) {
    Fixture f(always(http_response("429 Too Many Requests", "{}", form)));
    const EndpointFailure failure = failed(f);
    EXPECT_EQ(failure.kind, FailureKind::rate_limited);
    EXPECT_TRUE(failure.retry);
    EXPECT_GE(failure.retry_after, 86400);
    EXPECT_EQ(failure.attempts.size(), 1U);
    EXPECT_EQ(f.slept(), 0.0);
  }
}

TEST(EndpointFaults, F31RateLimitsAreWaitedForUntilTheDeadline) {
  Fixture f(always(http_response("429 Too Many Requests", "{}", "Retry-After: 50\r\n")));
  f.retry.deadline = 1000;
  const EndpointFailure failure = failed(f);
  EXPECT_EQ(failure.kind, FailureKind::rate_limited);
  EXPECT_GE(failure.attempts.size(), 18U);  // 50 to 55 s each
  EXPECT_LE(f.slept(), 1000);
  Fixture bounded(always(http_response("429 Too Many Requests", "{}")));
  bounded.retry.max_rate_limited = 7;
  EXPECT_EQ(failed(bounded).attempts.size(), 7U);
}

TEST(EndpointFaults, F32QuotaIsToldFromARateLimit) {
  struct Case {
    const char* body;
    const char* headers;
    FailureKind kind;
  };

  for (
      const Case& c :
      {Case{
           R"({"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details."}})",
           "",
           FailureKind::quota},
       Case{R"({"error":{"type":"insufficient_quota","message":"x"}})", "", FailureKind::quota},
       Case{R"({"error":{"code":"billing_hard_limit_reached"}})", "", FailureKind::quota},
       Case{R"({"error":{"type":"credit_exhausted"}})", "", FailureKind::quota},
       Case{R"({"error":{"message":"Your credit balance is too low to access the API."}})",
            "",
            FailureKind::quota},
       Case{R"({"error":{"code":"insufficient_quota"}})",
            "Retry-After: 130\r\n",
            FailureKind::rate_limited},
       Case{
           R"({"status":429,"error":"INSUFFICIENT QUOTA","message":"Too many concurrent requests"})",
           "",
           FailureKind::rate_limited},
       Case{
           R"({"error":{"code":"insufficient_quota","message":"quota of requests per minute exceeded"}})",
           "",
           FailureKind::rate_limited},
       Case{
           R"({"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 200s."}})",
           "",
           FailureKind::rate_limited}}) {
    Fixture f(always(http_response("429 Too Many Requests", c.body, c.headers)));
    f.retry.max_rate_limited = 2;
    const EndpointFailure failure = failed(f);
    EXPECT_EQ(failure.kind, c.kind) << c.body;
    EXPECT_EQ(failure.configuration, c.kind == FailureKind::quota) << c.body;
    if (c.kind == FailureKind::quota) {
      EXPECT_EQ(failure.attempts.size(), 1U) << c.body;
    }
  }
}

TEST(EndpointFaults, F38RedirectsAreReportedAndNeverFollowed) {
  RawServer other(always(http_response("200 OK", kPlain)));
  for (const char* status : {"301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 X"})
    for (const bool api_key : {false, true}) {
      Fixture f(
          always(http_response(status, "", "Location: " + other.url("/v2?token=sesame") + "\r\n")));
      f.target.profile.auth = api_key ? Auth::api_key : Auth::bearer;
      const EndpointFailure failure = failed(f);
      EXPECT_EQ(failure.kind, FailureKind::not_an_endpoint);
      EXPECT_TRUE(failure.configuration);
      EXPECT_THAT(failure.text, HasSubstr("redirects to " + other.url("/v2")));
      EXPECT_THAT(failure.text, HasSubstr("base_url"));
      EXPECT_THAT(failure.text, Not(HasSubstr("sesame")));
    }
  EXPECT_EQ(other.connections(), 0);
}

TEST(EndpointFaults, F44OverloadIsRetriedAndTheServersWordObeyed) {
  for (const int status : {408, 409, 425, 500, 502, 503, 504, 520, 522, 529}) {
    Fixture f(in_turn({http_response(std::to_string(status) + " X", R"({"error":"busy"})"),
                       http_response("200 OK", kPlain)}));
    const Completion answer = f.answer();
    ASSERT_EQ(answer.attempts.size(), 2U) << status;
    EXPECT_EQ(answer.attempts[0].outcome, "overloaded") << status;
  }
  for (const int status : {501, 505}) {
    Fixture f(always(http_response(std::to_string(status) + " X", "{}")));
    EXPECT_FALSE(failed(f).retry) << status;
    EXPECT_EQ(f.server.requests().size(), 1U) << status;
  }
  Fixture final(always(http_response("503 X", "{}", "x-should-retry: false\r\n")));
  EXPECT_FALSE(failed(final).retry);
  EXPECT_EQ(final.server.requests().size(), 1U);
  Fixture again(in_turn({http_response("404 X", "{}", "x-should-retry: true\r\n"),
                         http_response("400 X", "{}", "x-should-retry: true\r\n"),
                         http_response("200 OK", kPlain)}));
  EXPECT_EQ(again.answer().attempts.size(), 3U);
  // What no wait changes is not repeated, whatever the header says.
  Fixture never(always(http_response(
      "400 X", R"({"error":{"code":"context_length_exceeded"}})", "x-should-retry: true\r\n")));
  EXPECT_EQ(failed(never).kind, FailureKind::context_overflow);
  EXPECT_EQ(never.server.requests().size(), 1U);
}

TEST(EndpointFaults, F45NothingElseIsRetried) {
  for (const int status : {400, 401, 402, 403, 404, 405, 406, 410, 411, 413, 414,
                           415, 418, 421, 422, 423, 424, 426, 428, 431, 451, 499}) {
    Fixture f(always(http_response(std::to_string(status) + " X",
                                   R"({"error":{"message":"Provider returned error"}})")));
    const EndpointFailure failure = failed(f);
    EXPECT_FALSE(failure.retry) << status;
    EXPECT_EQ(failure.attempts.size(), 1U) << status;
    EXPECT_EQ(f.slept(), 0.0) << status;
  }
}

TEST(EndpointFaults, F47NoClockCanBeSwitchedOff) {
  const http::Limits defaults;
  for (const auto clock : {defaults.connect, defaults.first_byte, defaults.idle, defaults.total}) {
    EXPECT_GT(clock.count(), 0);
    EXPECT_LE(clock, std::chrono::hours(1));
  }
  // A clock of 0 means the usual one, not none and not at once.
  Fixture f([](const std::string&, int) {
    RawServer::Answer answer{test::sse_response("")};
    answer.hold = true;
    return answer;
  });
  f.target.limits = {};
  f.target.limits.connect = f.target.limits.idle = f.target.limits.total =
      std::chrono::milliseconds(0);
  f.target.limits.first_byte = std::chrono::milliseconds(200);
  f.retry.max_attempts = 1;
  EXPECT_THAT(failed(f).text, HasSubstr("no answer within 0.2"));
}

}  // namespace
}  // namespace sweep::endpoint
