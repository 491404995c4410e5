#include "endpoint/arguments.h"
#include "endpoint/backoff.h"
#include "endpoint/failure.h"
#include "endpoint/json.h"
#include "endpoint/sse.h"
#include "endpoint/think.h"
#include "endpoint/tool_text.h"

#include <gmock/gmock.h>

#include <random>

namespace sweep::endpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> events(const std::vector<std::string>& pieces) {
  SseParser parser;
  std::vector<std::string> out;
  const auto sink = [&](const SseEvent& event) { out.push_back(event.event + "|" + event.data); };
  for (const std::string& piece : pieces)
    EXPECT_TRUE(parser.feed(piece, sink));
  parser.finish(sink);
  return out;
}

TEST(SendableName, KeepsWhatServersTakeInAHistory) {
  EXPECT_EQ(sendable_name("compile_kernel-2"), "compile_kernel-2");
  EXPECT_EQ(sendable_name("../etc\n{{x}}"), "___etc___x__");
  EXPECT_EQ(sendable_name(""), "unknown");
  EXPECT_EQ(sendable_name(std::string(200, 'a')).size(), 64U);
}

TEST(Sse, SameEventsWhereverTheBytesAreCutAndHoweverLinesEnd) {
  const std::string lf =
      "\xEF\xBB\xBF: ping\n\nevent: a\ndata: {\"x\":\ndata:1}\n\nid: 7\n\ndata: : "
      "comment\n\nretry: 3\ndata: \xE2\x82\xAC\n\n"
      "data: last";
  for (const std::string& end : {std::string("\n"), std::string("\r"), std::string("\r\n")}) {
    std::string text;
    for (const char c : lf)
      text += c == '\n' ? end : std::string(1, c);
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
      EXPECT_THAT(events({text.substr(0, cut), text.substr(cut)}),
                  ElementsAre("a|{\"x\":\n1}", "|\xE2\x82\xAC", "|last"));
  }
}

TEST(Sse, RefusesEventsAboveTheLimit) {
  SseParser parser(100);
  const auto sink = [](const SseEvent&) { FAIL(); };
  EXPECT_FALSE(parser.feed("data: " + std::string(200, 'x'), sink));
  EXPECT_FALSE(parser.feed("\n\n", sink));
}

TEST(Json, KeepsBytesOfACharacterSplitOverTwoTexts) {
  const auto first = parse_json("{\"t\":\"a\xE2\x82\"}");
  const auto second = parse_json("{\"t\":\"\xAC!\"}");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(restore(text_at(*first, "t") + text_at(*second, "t")), "a\xE2\x82\xAC!");
  EXPECT_EQ(restore(text_at(*first, "t")), "a\xEF\xBF\xBD");
}

TEST(Json, MendsLoneSurrogatesAndKeepsPairs) {
  const auto json = parse_json(R"({"a":"\ud83d","b":"\ud83d\ude00","c":"\\ud83d","d":"\ude00x"})");
  ASSERT_TRUE(json);
  EXPECT_EQ(text_at(*json, "a"), "\xEF\xBF\xBD");
  EXPECT_EQ(text_at(*json, "b"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(text_at(*json, "c"), "\\ud83d");
  EXPECT_EQ(text_at(*json, "d"), "\xEF\xBF\xBDx");
}

TEST(Json, BoundsDepthAndTakesWrongTypes) {
  EXPECT_FALSE(parse_json(std::string(200'000, '[') + std::string(200'000, ']')));
  EXPECT_TRUE(parse_json(std::string(100, '[') + std::string(100, ']')));
  EXPECT_TRUE(parse_json("\"" + std::string(500, '[') + "\""));
  const auto json = parse_json(R"({"a":null,"b":3,"c":1e300,"d":18446744073709551615})");
  EXPECT_EQ(text_at(*json, "a"), "");
  EXPECT_EQ(text_at(*json, "b"), "");
  EXPECT_EQ(integer_at(*json, "b"), 3);
  EXPECT_EQ(integer_at(*json, "c"), -1);
  EXPECT_EQ(integer_at(*json, "d"), -1);
  EXPECT_EQ(member(Json(5), "a"), nullptr);
}

TEST(Json, RandomBytesNeverThrow) {
  std::mt19937 random(1);
  const std::string alphabet = "{}[]\",:\\u0d8ef\xE2\x82\xFF truenull1";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto i = random() % 24; i > 0; --i)
      text += alphabet[random() % alphabet.size()];
    if (auto json = parse_json(text)) {
      restore(*json);
      (void)dump(*json);
      (void)error_in(*json);
    }
    (void)error_from_body(text);
    (void)events({text, text});
    ToolCall call;
    call.arguments = text;
    check_arguments(call, false, Repair::safe);
    (void)calls_in_text("<tool_call>" + text + "</tool_call>", {{"f"}, {}}, Profile().tool_markup);
    (void)split_think(text + "</think>" + text, true);
    (void)parse_duration(text);
    (void)parse_http_date(text);
  }
}

TEST(Failure, ReadsErrorsInEveryShape) {
  const auto message = [](const char* body) { return error_from_body(body).message; };
  EXPECT_EQ(message(R"({"error":{"message":"m","type":"t","code":429,"param":"p"}})"), "m");
  EXPECT_EQ(error_from_body(R"({"error":{"message":"m","code":429}})").status, 429);
  EXPECT_EQ(message(R"({"code":"bad","error":"text"})"), "text");
  EXPECT_EQ(message(R"([{"error":{"message":"array"}}])"), "array");
  EXPECT_EQ(message(R"({"detail":"fastapi"})"), "fastapi");
  EXPECT_EQ(message(R"({"detail":[{"msg":"field"}]})"), "field");
  EXPECT_EQ(message(R"({"message":"plain"})"), "plain");
  EXPECT_THAT(message("<html><h1>502</h1><p>Bad\n Gateway</p></html>"),
              HasSubstr("502 Bad Gateway"));
  EXPECT_EQ(message(""), "");
  EXPECT_LE(error_from_body(std::string(100'000, '\xFF')).message.size(), 1000U);
}

TEST(Advice, SaysMoreWhereTheServersWordsDo) {
  const auto say = [](FailureKind kind, std::string_view words) { return advice(kind, words); };
  const std::string path = say(FailureKind::not_an_endpoint, "404 page not found");
  EXPECT_NE(path.find("api_kind (\"openai_chat\""), std::string::npos);
  EXPECT_TRUE(path.ends_with(kSeeProbe));
  for (const char* words : {"The model `m` does not exist.",
                            "model 'm' not found, try pulling it first",
                            "The API deployment for this resource does not exist.",
                            " model_not_found"}) {
    const std::string model = say(FailureKind::not_an_endpoint, words);
    EXPECT_TRUE(model.starts_with("check deployment_name: ")) << words;
    EXPECT_TRUE(model.ends_with(kSeeProbe));
  }
  EXPECT_NE(say(FailureKind::bad_request,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser")
                .find("--tool-call-parser NAME"),
            std::string::npos);
  EXPECT_EQ(say(FailureKind::rate_limited, "model not found"), advice(FailureKind::rate_limited));
  // A failure is taken apart at "; ".
  for (int kind = 0; kind <= static_cast<int>(FailureKind::cancelled); ++kind)
    EXPECT_EQ(advice(static_cast<FailureKind>(kind)).find("; "), std::string::npos) << kind;
}

TEST(Failure, ClassifiesByStatusAndWords) {
  const auto kind = [](int status, const char* body) {
    return classify(status, error_from_body(body));
  };
  EXPECT_EQ(kind(429, "{}"), FailureKind::rate_limited);
  EXPECT_EQ(kind(429, R"({"error":{"code":"insufficient_quota"}})"), FailureKind::quota);
  EXPECT_EQ(
      kind(429, R"({"status":429,"error":"INSUFFICIENT QUOTA","message":"concurrent requests"})"),
      FailureKind::rate_limited);
  EXPECT_EQ(
      kind(400, R"({"error":{"message":"This model's maximum context length is 8192 tokens"}})"),
      FailureKind::context_overflow);
  EXPECT_EQ(kind(429, R"({"error":"too many tokens per minute, please wait"})"),
            FailureKind::rate_limited);
  EXPECT_EQ(kind(400, R"({"error":{"innererror":{"code":"ResponsibleAIPolicyViolation"}}})"),
            FailureKind::content_filter);
  EXPECT_EQ(kind(401, "{}"), FailureKind::authentication);
  EXPECT_EQ(kind(404, "<html>"), FailureKind::not_an_endpoint);
  EXPECT_EQ(kind(307, ""), FailureKind::not_an_endpoint);
  EXPECT_EQ(kind(400, "{}"), FailureKind::bad_request);
  EXPECT_EQ(kind(422, "{}"), FailureKind::bad_request);
  for (const int status : {408, 409, 500, 502, 503, 529})
    EXPECT_EQ(kind(status, ""), FailureKind::overloaded) << status;
  EXPECT_EQ(kind(200, R"({"error":{"code":502,"message":"upstream"}})"), FailureKind::overloaded);
  for (const FailureKind never : {FailureKind::bad_request,
                                  FailureKind::quota,
                                  FailureKind::authentication,
                                  FailureKind::context_overflow,
                                  FailureKind::content_filter})
    EXPECT_FALSE(retryable(never));
}

http::Response with(std::vector<http::Header> headers) {
  http::Response response;
  response.headers = std::move(headers);
  return response;
}

TEST(Failure, RetryAfterInEveryForm) {
  EXPECT_EQ(retry_after(with({{"Retry-After", "38"}}), "", 0), 38);
  EXPECT_EQ(retry_after(with({{"retry-after", " 0.5 "}}), "", 0), 0.5);
  EXPECT_EQ(retry_after(with({{"retry-after-ms", "1500"}, {"retry-after", "9"}}), "", 0), 1.5);
  EXPECT_EQ(retry_after(with({{"retry-after-ms", "soon"}, {"retry-after", "9"}}), "", 0), 9);
  const http::Header date{"Date", "Sun, 06 Nov 1994 08:49:00 GMT"};
  for (const char* form : {"Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(retry_after(with({date, {"Retry-After", form}}), "", 0), 37) << form;
    EXPECT_EQ(retry_after(with({{"Retry-After", form}}), "", 784111770.0), 7) << form;
    EXPECT_EQ(retry_after(with({{"Retry-After", form}}), "", 2e9), std::nullopt) << form;
  }
  EXPECT_EQ(retry_after(with({{"x-ratelimit-reset-requests", "1m30s"},
                              {"x-ratelimit-reset-tokens", "500ms"}}),
                        "",
                        0),
            90);
  EXPECT_EQ(retry_after(with({}), "Rate limit. Please try again in 1.5s.", 0), 1.5);
  EXPECT_EQ(retry_after(with({}), "Please retry after 20 seconds.", 0), 20);
  EXPECT_EQ(retry_after(with({}), "try again in 250ms", 0), 0.25);
  for (const char* junk : {"-5", "nan", "inf", "later", ""})
    EXPECT_EQ(retry_after(with({{"Retry-After", junk}}), "", 0), std::nullopt) << junk;
}

TEST(Backoff, GrowsWithJitterAndIsReproducible) {
  Retry retry;
  retry.jitter_seed = 5;
  Backoff a(retry), b(retry);
  for (const bool limited : {false, true})
    for (int failures = 1; failures < 12; ++failures) {
      const double most = std::min(std::ldexp(1.0, failures - 1), limited ? 60.0 : 30.0);
      const double delay = a.delay(failures, std::nullopt, limited);
      EXPECT_GE(delay, 0.5);
      EXPECT_LE(delay, most);
      EXPECT_EQ(delay, b.delay(failures, std::nullopt, limited));
    }
  const double asked = a.delay(1, 40.0, true);
  EXPECT_GE(asked, 40.0);
  EXPECT_LE(asked, 45.0);
  EXPECT_GE(a.delay(1, 0.0, true), 0.5);
  EXPECT_LE(a.delay(1, 0.0, true), 1.0);
}

}  // namespace
}  // namespace sweep::endpoint
