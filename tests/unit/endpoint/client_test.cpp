#include "endpoint/client.h"

#include "client_fixture.h"
#include "endpoint/protocol.h"
#include "util/error.h"

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
using test::RawServer;
using test::sse_response;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Chat, ReadsAWholeAnswer) {
  Fixture f(always(http_response("200 OK", kPlain, "x-request-id: r1\r\n")), Api::chat, false);
  const Completion answer = f.answer();
  EXPECT_EQ(answer.message.text, "hello");
  EXPECT_EQ(answer.finish, Finish::stop);
  EXPECT_EQ(answer.usage.input, 10);
  EXPECT_EQ(answer.usage.cached, 6);
  EXPECT_EQ(answer.usage.output, 4);
  EXPECT_EQ(answer.usage.reasoning, 3);
  EXPECT_EQ(answer.request_id, "r1");
  EXPECT_EQ(answer.attempts.size(), 1U);
  const std::string request = f.server.requests().at(0);
  EXPECT_THAT(request, HasSubstr("POST /v1/chat/completions HTTP/1.1"));
  EXPECT_THAT(request, HasSubstr("Authorization: Bearer sk-0123456789abcdef"));
  EXPECT_FALSE(f.sent().contains("stream"));
  EXPECT_FALSE(f.sent().contains("temperature"));
  EXPECT_THAT(f.exchange.request, Not(HasSubstr("sk-0123456789")));
}

TEST(Chat, StreamInSingleBytesGivesTheSameAsWhole) {
  for (const bool slowly : {false, true}) {
    Fixture f(always(sse_response(full_stream()), slowly));
    std::size_t calls = 0;
    f.progress = [&](const Progress&) { ++calls; };
    const Completion answer = f.answer();
    EXPECT_EQ(answer.message.text, "\xE2\x82\xAC ok");
    EXPECT_EQ(answer.message.reasoning, "let me think");
    ASSERT_EQ(answer.message.calls.size(), 2U);
    EXPECT_EQ(answer.message.calls[0].id, "call_a");
    EXPECT_EQ(answer.message.calls[0].arguments, "{\"kernel_code\":\"x\"}");
    EXPECT_EQ(answer.message.calls[1].name, "submit_kernel");
    EXPECT_EQ(answer.finish, Finish::tool_calls);
    EXPECT_EQ(answer.usage.output, 9);
    EXPECT_GT(calls, 0U);
    const auto replayed = f.endpoint->parse(f.exchange);
    ASSERT_EQ(replayed.index(), 0U);
    EXPECT_EQ(to_json(std::get<Completion>(replayed).message), to_json(answer.message));
  }
  Fixture f(always(sse_response(full_stream())));
  (void)f.answer();
  EXPECT_EQ(f.sent()["stream_options"]["include_usage"], true);
}

// Not even while the key is in two pieces.
TEST(Chat, WhatIsShownOfAComingAnswerHoldsNoKey) {
  const std::string filler(100, '.');
  std::string body = chunk(R"({"reasoning_content":"thinking )" + filler + R"("})");
  for (const std::string piece : {"hello ", "sk-01234567", "89abcdef", " rest "}) {
    body += chunk(R"({"content":")" + piece + R"("})");
  }
  body += chunk(R"({"content":")" + filler + R"("})", "\"stop\"");
  Fixture f(always(sse_response(body), true));
  std::vector<std::string> seen;
  std::string reasoning;
  f.progress = [&](const Progress& so_far) {
    seen.push_back(so_far.text_end);
    reasoning = so_far.reasoning_end;
  };
  (void)f.answer();
  ASSERT_FALSE(seen.empty());
  for (const std::string& text : seen) {
    EXPECT_THAT(text, Not(HasSubstr("sk-")));
  }
  EXPECT_THAT(seen.back(), HasSubstr("hello [key] rest "));
  EXPECT_THAT(reasoning, HasSubstr("thinking "));
}

TEST(Chat, OfALongAnswerItsEndIsShown) {
  Progress so_far;
  const std::string piece(Progress::kShown - 1, 'a');
  for (int i = 0; i < 5; ++i) {
    note_piece(so_far, true, piece + std::to_string(i));
    EXPECT_LE(so_far.reasoning_end.size(), 2 * Progress::kShown);
    EXPECT_EQ(so_far.reasoning_end.back(), static_cast<char>('0' + i));
  }
  EXPECT_EQ(so_far.reasoning, 5 * Progress::kShown);
  EXPECT_TRUE(so_far.text_end.empty());
}

TEST(Chat, DeltasWithoutIndexOrIdRepeatedNamesAndRepeatedArguments) {
  Fixture f(always(sse_response(
      chunk(R"({"tool_calls":[{"id":"x","function":{"name":"submit_kernel"}}]})") +
      chunk(R"({"tool_calls":[{"function":{"name":"submit_kernel","arguments":"{\"a\""}}]})") +
      chunk(
          R"({"tool_calls":[{"id":"x","function":{"name":"submit_kernel","arguments":":1}"}}]})") +
      chunk(
          R"({"tool_calls":[{"id":"x","function":{"name":"submit_kernel","arguments":"{\"a\":1}"}}]})") +
      chunk(
          R"({"tool_calls":[{"index":0,"id":"y","function":{"name":"submit_kernel","arguments":{"b":2}}}]})",
          "\"stop\"") +
      "data: [DONE]\n\n")));
  const Completion answer = f.answer();
  ASSERT_EQ(answer.message.calls.size(), 2U);
  EXPECT_EQ(answer.message.calls[0].name, "submit_kernel");
  EXPECT_EQ(answer.message.calls[0].arguments, "{\"a\":1}");
  EXPECT_EQ(answer.message.calls[1].id, "y");
  EXPECT_EQ(answer.message.calls[1].arguments, "{\"b\":2}");
  EXPECT_EQ(answer.finish, Finish::tool_calls);
}

TEST(Chat, ReplaysUnknownFieldsAndAnswersEveryCall) {
  Fixture f(in_turn({sse_response(full_stream()), http_response("200 OK", kPlain)}));
  const Completion first = f.answer();
  Conversation next = {{Speaker::system, "s"}, {Speaker::user, "u"}, first.message};
  next.push_back({Speaker::tool, "fine", "", {}, "call_a", "submit_kernel", ""});
  next.push_back({Speaker::tool, "bytes \xFF", "", {}, "call_b", "submit_kernel", ""});
  const auto second = f.ask(next);
  ASSERT_EQ(second.index(), 0U);
  next.push_back(std::get<Completion>(second).message);
  (void)f.ask(next);
  const Json messages = f.sent(2)["messages"];
  EXPECT_EQ(messages[2]["reasoning_content"], "let me think");
  EXPECT_EQ(messages[2]["tool_calls"][0]["function"]["arguments"], "{\"kernel_code\":\"x\"}");
  EXPECT_EQ(messages[3], Json({{"role", "tool"}, {"tool_call_id", "call_a"}, {"content", "fine"}}));
  EXPECT_EQ(messages[4]["content"], "bytes \xEF\xBF\xBD");
  EXPECT_EQ(messages[5],
            Json({{"role", "assistant"}, {"content", "hello"}, {"extra", {{"sig", "s"}}}}));
}

TEST(Chat, BrokenArgumentsAreToldToTheModelAndNotReplayed) {
  Fixture f(in_turn({sse_response(
      chunk(
          R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"submit_kernel","arguments":"{\"kernel_code\":\"cut"}}]})",
          "\"length\"") +
      "data: [DONE]\n\n")}));
  const Completion answer = f.answer();
  ASSERT_EQ(answer.message.calls.size(), 1U);
  EXPECT_THAT(answer.message.calls[0].problem, HasSubstr("output limit"));
  EXPECT_EQ(answer.finish, Finish::length);
  (void)f.ask({{Speaker::user, "u"},
               answer.message,
               {Speaker::tool, "no", "", {}, "a", "submit_kernel", ""}});
  EXPECT_EQ(f.sent(1)["messages"][1]["tool_calls"][0]["function"]["arguments"], "{}");
}

TEST(Chat, TextCallsComeBackAsUserMessages) {
  const std::string text =
      "<tool_call>{\\\"name\\\":\\\"submit_kernel\\\",\\\"arguments\\\":{\\\"kernel_code\\\":"
      "\\\"k\\\"}}</tool_call>";
  Fixture f(always(http_response(
      "200 OK",
      R"({"choices":[{"finish_reason":"stop","message":{"content":"<think>t</think>)" + text +
          "\"}}]}")));
  const Completion answer = f.answer();
  ASSERT_EQ(answer.message.calls.size(), 1U);
  EXPECT_TRUE(answer.message.calls[0].from_text);
  EXPECT_EQ(answer.message.reasoning, "t");
  EXPECT_TRUE(answer.usage.estimated);
  EXPECT_THAT(answer.flags, Contains("tool_calls_in_text"));
  (void)f.ask({{Speaker::user, "u"},
               answer.message,
               {Speaker::tool, "ok", "", {}, answer.message.calls[0].id, "submit_kernel", ""}});
  const Json messages = f.sent(1)["messages"];
  EXPECT_FALSE(messages[1].contains("tool_calls"));
  EXPECT_EQ(messages[2]["role"], "user");
  EXPECT_THAT(messages[2]["content"].get<std::string>(), HasSubstr("Result of submit_kernel"));
}

TEST(Chat, NeverTakesCallsFromReasoning) {
  Fixture f(always(http_response(
      "200 OK",
      R"({"choices":[{"message":{"content":"","reasoning":"<tool_call>{\"name\":\"submit_kernel\",\"arguments\":{}}</tool_call>"}}]})")));
  const Completion answer = f.answer();
  EXPECT_TRUE(answer.message.calls.empty());
  EXPECT_THAT(answer.flags, Contains("reasoning_only"));
}

TEST(Responses, StreamAndWholeAnswerAgreeAndReplayKeepsOrder) {
  const std::string output =
      R"([{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"plan"}],"content":[{"text":"x"}],"encrypted_content":"E"},)"
      R"({"id":"msg_1","type":"message","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"hi"}]},)"
      R"({"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"submit_kernel","arguments":"{\"kernel_code\":\"k\"}"}])";
  const std::string final =
      R"({"id":"resp_1","model":"m","status":"completed","error":null,"incomplete_details":null,"output":)" +
      output +
      R"(,"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":2},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":6},"total_tokens":13}})";
  const std::string stream =
      "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n"
      "event: response.function_call_arguments.delta\ndata: "
      "{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}\n\n"
      "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" +
      final + "}\n\n";
  for (const bool streaming : {false, true}) {
    Fixture f(always(streaming ? sse_response(stream) : http_response("200 OK", final)),
              Api::responses,
              streaming);
    f.settings.reasoning_effort = "high";
    const Completion answer = f.answer();
    EXPECT_EQ(answer.message.text, "hi");
    EXPECT_EQ(answer.message.reasoning, "x");
    EXPECT_EQ(answer.usage.reasoning, 6);
    EXPECT_EQ(answer.usage.cached, 2);
    ASSERT_EQ(answer.message.calls.size(), 1U);
    EXPECT_EQ(answer.message.calls[0].id, "call_1");
    (void)f.ask({{Speaker::system, "s"},
                 {Speaker::user, "u"},
                 answer.message,
                 {Speaker::tool, "done", "", {}, "call_1", "submit_kernel", ""}});
    const Json body = f.sent(1);
    EXPECT_THAT(f.server.requests().at(1), HasSubstr("POST /v1/responses "));
    EXPECT_EQ(body["instructions"], "s");
    EXPECT_EQ(body["store"], false);
    EXPECT_EQ(body["reasoning"]["effort"], "high");
    EXPECT_EQ(body["tools"][0]["name"], "submit_kernel");
    const Json input = body["input"];
    ASSERT_EQ(input.size(), 5U);
    EXPECT_EQ(input[1],
              Json({{"type", "reasoning"},
                    {"summary", {{{"type", "summary_text"}, {"text", "plan"}}}},
                    {"content", Json::array()},
                    {"encrypted_content", "E"}}));
    EXPECT_EQ(input[2]["phase"], "commentary");
    EXPECT_FALSE(input[2].contains("status"));
    EXPECT_EQ(input[3]["call_id"], "call_1");
    EXPECT_EQ(input[4],
              Json({{"type", "function_call_output"}, {"call_id", "call_1"}, {"output", "done"}}));
  }
}

TEST(Responses, UsesFinishedItemsWhenTheFinalEventIsEmptyAndReportsLimits) {
  Fixture f(always(sse_response(
                "data: "
                "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":"
                "\"message\",\"content\":[{\"text\":\"part\"}]}}\n\n"
                "data: "
                "{\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\","
                "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[]}}\n\n")),
            Api::responses);
  const Completion answer = f.answer();
  EXPECT_EQ(answer.message.text, "part");
  EXPECT_EQ(answer.finish, Finish::length);
  EXPECT_EQ(answer.finish_raw, "incomplete:max_output_tokens");
}

TEST(Responses, FailedAndCutStreamsAreRetried) {
  Fixture f(
      in_turn(
          {sse_response("data: "
                        "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\","
                        "\"error\":{\"code\":\"server_error\",\"message\":\"x\"}}}\n\n"),
           sse_response("data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n"),
           sse_response(
               "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}\n\n"),
           http_response(
               "200 OK",
               R"({"status":"completed","output":[{"type":"message","content":[{"text":"ok"}]}]})")}),
      Api::responses);
  const Completion answer = f.answer();
  ASSERT_EQ(answer.attempts.size(), 4U);
  EXPECT_EQ(answer.attempts[0].outcome, "overloaded");
  EXPECT_EQ(answer.attempts[1].outcome, "transport");
  EXPECT_EQ(answer.attempts[2].outcome, "rate_limited");
}

TEST(Connect, RefusesBadBaseUrlsAndTrimsPastedOnes) {
  util::FakeClock clock;
  Services services;
  services.clock = &clock;
  for (const char* url : {"", "host/v1", "ftp://h/v1", "https://user:key@h/v1", "https:///v1"}) {
    Target target;
    target.base_url = url;
    EXPECT_THROW((void)connect(target, {}, services), util::UsageError) << url;
  }
  Fixture f(always(http_response("200 OK", kPlain)));
  f.target.base_url = f.server.url("/v1/chat/completions/?api-version=1");
  (void)f.answer();
  EXPECT_THAT(f.server.requests().at(0),
              HasSubstr("POST /v1/chat/completions?api-version=1 HTTP/1.1"));
}

TEST(Usage, ConventionsAreBroughtToOne) {
  const auto usage = [](const char* json) {
    Fixture f(always(http_response(
        "200 OK",
        std::string(R"({"choices":[{"message":{"content":"x"}}],"usage":)") + json + "}")));
    return f.answer().usage;
  };
  EXPECT_EQ(
      usage(
          R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":25,"completion_tokens_details":{"reasoning_tokens":10}})")
          .output,
      15);
  EXPECT_EQ(
      usage(
          R"({"prompt_tokens":10,"completion_tokens":15,"total_tokens":25,"completion_tokens_details":{"reasoning_tokens":10}})")
          .output,
      15);
  EXPECT_EQ(
      usage(R"({"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":4})").cached, 4);
  EXPECT_EQ(
      usage(
          R"({"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":40}})")
          .cached,
      10);
  EXPECT_EQ(usage(R"({"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":7})").input,
            17);
}

TEST(SecretText, IsFoundInEveryForm) {
  const Secret key("ab/cd\"efgh");
  EXPECT_EQ(redact("x ab/cd\"efgh y ab\\/cd\\\"efgh z ab%2Fcd%22efgh", key),
            "x [key] y [key] z [key]");
  EXPECT_EQ(redact("short", Secret("short")), "short");
}

}  // namespace
}  // namespace sweep::endpoint
