// Tool calls as servers bend them, case by case; docs/endpoints.md has the table.
#include "fault_case.h"

namespace sweep::endpoint {
namespace {

using test::answer;
using test::asked;
using test::body;
using test::call;
using test::calls;
using test::profile_of;
using test::result;
using test::streamed;
using test::user;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(EndpointFaults, F01ArgumentsAsObject) {
  const auto first = [](const std::string& arguments) {
    return answer(call(arguments), "tool_calls").message.calls.at(0);
  };
  EXPECT_EQ(first(R"({"kernel_code": "x"})").arguments, R"({"kernel_code":"x"})");
  for (const char* nothing : {"null", R"("")", R"("  ")", R"("null")"}) {
    EXPECT_EQ(first(nothing).arguments, "{}") << nothing;
    EXPECT_EQ(first(nothing).problem, "") << nothing;
  }
  for (const char* wrong : {"[1]", "3", "true", R"("[1]")", R"("3")"}) {
    EXPECT_THAT(first(wrong).problem, HasSubstr("must be a JSON object")) << wrong;
    EXPECT_NE(first(wrong).arguments, "{}") << wrong;
  }
  EXPECT_EQ(first(R"("\"{\\\"kernel_code\\\":\\\"x\\\"}\"")").arguments, R"({"kernel_code":"x"})");
}

TEST(EndpointFaults, F02DeltaWithoutIndex) {
  const Completion got =
      streamed({calls(R"({"id":"a","function":{"name":"look","arguments":"{\"x\""}})"),
                calls(R"({"function":{"arguments":":1}"}})"),
                calls(R"({"id":"b","function":{"name":"submit_kernel","arguments":"{"}})"),
                calls(R"({"index":null,"function":{"arguments":"}"}})")});
  ASSERT_EQ(got.message.calls.size(), 2U);
  EXPECT_EQ(got.message.calls[0].arguments, R"({"x":1})");
  EXPECT_EQ(got.message.calls[1].arguments, "{}");
}

TEST(EndpointFaults, F03DeltaWithoutId) {
  const Completion late =
      streamed({calls(R"({"index":0,"function":{"name":"look","arguments":"{"}})"),
                calls(R"({"index":0,"id":"late","function":{"arguments":"}"}})")});
  ASSERT_EQ(late.message.calls.size(), 1U);
  EXPECT_EQ(late.message.calls[0].id, "late");
  EXPECT_FALSE(late.message.calls[0].synthetic_id);

  Asked third = asked();
  third.turn = 2;
  const Completion never =
      streamed({calls(R"({"index":0,"id":"","function":{"name":"look","arguments":"{}"}})"),
                calls(R"({"index":1,"function":{"name":"look","arguments":"{}"}})")},
               "stop",
               third);
  ASSERT_EQ(never.message.calls.size(), 2U);
  EXPECT_EQ(never.message.calls[0].id, "call_2_0");
  EXPECT_EQ(never.message.calls[1].id, "call_2_1");
  EXPECT_TRUE(never.message.calls[1].synthetic_id);
}

TEST(EndpointFaults, F04WrongOrReusedIndex) {
  const Completion got =
      streamed({calls(R"({"index":0,"id":"a","function":{"name":"look","arguments":"{\"x\":"}})"),
                calls(R"({"index":0,"id":"b","function":{"name":"submit_kernel","arguments":""}})"),
                calls(R"({"index":7,"id":"a","function":{"arguments":"1}"}})"),
                calls(R"({"index":0,"function":{"arguments":"{\"y\":2}"}})")});
  ASSERT_EQ(got.message.calls.size(), 2U);
  EXPECT_EQ(got.message.calls[0].arguments, R"({"x":1})");
  EXPECT_EQ(got.message.calls[1].arguments, R"({"y":2})");
  const Completion twice =
      answer(R"({"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}},)"
             R"({"id":"a","function":{"name":"look","arguments":"{}"}}]})");
  ASSERT_EQ(twice.message.calls.size(), 2U);
  EXPECT_NE(twice.message.calls[0].id, twice.message.calls[1].id);
  EXPECT_THAT(twice.flags, Contains("duplicate_call_id"));
}

TEST(EndpointFaults, F05NameRepeatedOrSplit) {
  const auto name = [](const std::vector<std::string>& pieces) {
    std::vector<std::string> deltas;
    for (const std::string& piece : pieces)
      deltas.push_back(
          calls(R"({"index":0,"id":"a","function":{"name":")" + piece + R"(","arguments":""}})"));
    return streamed(deltas).message.calls.at(0).name;
  };
  EXPECT_EQ(name({"look", "look", "look"}), "look");
  EXPECT_EQ(name({"submit_", "kernel"}), "submit_kernel");
  EXPECT_EQ(name({"submit_", "submit_kernel"}), "submit_kernel");
  EXPECT_EQ(name({"look", "lo"}), "look");
}

TEST(EndpointFaults, F06FullArgumentsAgain) {
  const auto arguments = [](const std::string& again) {
    return streamed(
               {calls(R"({"index":0,"id":"a","function":{"name":"look","arguments":"{\"a\""}})"),
                calls(R"({"index":0,"function":{"arguments":":1}"}})"),
                calls(R"({"index":0,"id":"a","function":{"name":"look","arguments":")" + again +
                      "\"}}")})
        .message.calls.at(0);
  };
  EXPECT_EQ(arguments(R"({\"a\":1})").arguments, R"({"a":1})");
  EXPECT_EQ(arguments(R"({\"a\":1})").problem, "");
  EXPECT_THAT(arguments(R"({\"a\":2})").problem, HasSubstr("more than one JSON object"));
  EXPECT_THAT(answer(call(R"("{}{}")")).message.calls.at(0).problem, HasSubstr("more than one"));
}

TEST(EndpointFaults, F07MalformedJson) {
  const auto checked = [](const std::string& text, const Profile& profile = {}) {
    return answer(call(dump(Json(text))), "tool_calls", asked(profile));
  };
  for (const char* sound : {"{\"a\":1}<|call|>", "{\"a\":1}\"\"", " {\"a\":1}\n", "{\"a\":1}'"}) {
    const Completion got = checked(sound);
    EXPECT_EQ(got.message.calls[0].problem, "") << sound;
    EXPECT_EQ(*parse_json(got.message.calls[0].arguments), Json({{"a", 1}})) << sound;
  }
  const Completion newline = checked("{\"kernel_code\":\"a\nb\"}");
  EXPECT_EQ(newline.message.calls[0].arguments, R"({"kernel_code":"a\nb"})");
  EXPECT_TRUE(newline.message.calls[0].repaired);
  EXPECT_THAT(newline.flags, Contains("arguments_repaired"));
  for (const char* broken :
       {"{\"a\":1}}", "{'a':1}", "{a:1}", "{{\"a\":1}}", "{\"a\":\"unfinished", "{\"a\":1"}) {
    const Completion got = checked(broken);
    EXPECT_THAT(got.message.calls[0].problem, HasSubstr("not valid JSON (byte ")) << broken;
    EXPECT_EQ(got.message.calls[0].arguments, broken);
    EXPECT_FALSE(got.message.calls[0].repaired);
    EXPECT_THAT(got.flags, Contains("arguments_invalid"));
  }
  Profile off;
  off.json_repair = Repair::off;
  EXPECT_THAT(checked("{\"a\":\"x\ny\"}", off).message.calls[0].problem, HasSubstr("not valid"));
}

TEST(EndpointFaults, F08UnknownTool) {
  for (const char* name : {"Submit_Kernel", "functions.submit_kernel", "rm", ""}) {
    const Completion got = answer(call("\"{}\"", name), "tool_calls");
    ASSERT_EQ(got.message.calls.size(), 1U);
    EXPECT_EQ(got.message.calls[0].name, name);
    EXPECT_THAT(got.flags, Contains("unknown_tool"));
  }
}

TEST(EndpointFaults, F09CallsInContent) {
  const std::string message =
      R"({"content":"<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>"})";
  const Completion read = answer(message);
  ASSERT_EQ(read.message.calls.size(), 1U);
  EXPECT_EQ(read.message.calls[0].markup, "hermes");
  EXPECT_THAT(read.flags, Contains("tool_calls_in_text"));
  const Completion off = answer(message, "stop", asked(profile_of("openai")));
  EXPECT_TRUE(off.message.calls.empty());
  EXPECT_THAT(off.flags, Contains("tool_markup_in_text"));
  const Completion thought =
      answer(R"({"content":"ok","reasoning":"<|tool_calls_section_begin|>x"})");
  EXPECT_TRUE(thought.message.calls.empty());
  EXPECT_THAT(thought.flags, Contains("tool_markup_in_reasoning"));
  // The result goes back as text, since the server knows of no call.
  const Json messages =
      body({user("u"), read.message, result(read.message.calls[0].id, "ok")})["messages"];
  EXPECT_FALSE(messages[1].contains("tool_calls"));
  EXPECT_EQ(messages[2]["role"], "user");
}

TEST(EndpointFaults, F10StopWithCalls) {
  for (const char* reason : {"stop", "", "end_turn", "whatever"})
    EXPECT_EQ(answer(call("\"{}\""), reason).finish, Finish::tool_calls) << reason;
}

TEST(EndpointFaults, F11ToolCallsReasonWithoutCalls) {
  const Completion got = answer(R"({"content":"done","tool_calls":[]})", "tool_calls");
  EXPECT_EQ(got.finish, Finish::stop);
  EXPECT_EQ(got.finish_raw, "tool_calls");
  EXPECT_TRUE(got.message.calls.empty());
}

TEST(EndpointFaults, F12EveryCallHasOneResult) {
  Message both = answer(R"({"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}},)"
                        R"({"id":"b","function":{"name":"look","arguments":"{}"}}]})")
                     .message;
  const Json messages = body({user("u"),
                              both,
                              user("note"),
                              result("b", "second"),
                              result("b", "again"),
                              result("gone", "orphan")})["messages"];
  ASSERT_EQ(messages.size(), 6U);
  EXPECT_EQ(messages[2]["tool_call_id"], "a");
  EXPECT_THAT(messages[2]["content"].get<std::string>(), HasSubstr("interrupted"));
  EXPECT_EQ(messages[3]["content"], "second");
  EXPECT_EQ(messages[4]["content"], "note");
  EXPECT_EQ(messages[5]["role"], "user");
  const Json input = body({user("u"), both}, {}, {}, Api::responses)["input"];
  EXPECT_EQ(input.back()["type"], "function_call_output");
  EXPECT_EQ(input.back()["call_id"], "b");
}

TEST(EndpointFaults, F13KimiIds) {
  Asked request = asked(profile_of("kimi"));
  request.calls = 3;
  EXPECT_EQ(answer(call("\"{}\"", "look", ""), "stop", request).message.calls[0].id,
            "functions.look:3");
  const Message kept = answer(call("\"{}\"", "look", "functions.look:0"), "stop", request).message;
  EXPECT_EQ(kept.calls[0].id, "functions.look:0");
  EXPECT_EQ(body({user("u"), kept})["messages"][1]["tool_calls"][0]["id"], "functions.look:0");
}

TEST(EndpointFaults, F14SignaturesComeBack) {
  const std::string signature = R"("extra_content":{"google":{"thought_signature":"S"}})";
  const Message whole = answer(R"({"content":null,"note":7,"tool_calls":[{"id":"a",)" + signature +
                               R"(,"function":{"name":"look","arguments":"{}","f":1}}]})")
                            .message;
  const Message stream = streamed({calls(R"({"index":0,"id":"a",)" + signature +
                                         R"(,"function":{"name":"look","arguments":"{}"}})")})
                             .message;
  for (const Message& message : {whole, stream}) {
    const Json sent = body({user("u"), message})["messages"][1];
    EXPECT_EQ(sent["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "S");
  }
  const Json sent = body({user("u"), whole})["messages"][1];
  EXPECT_EQ(sent["note"], 7);
  EXPECT_EQ(sent["tool_calls"][0]["function"]["f"], 1);
}

TEST(EndpointFaults, F15EmptyContent) {
  const Message message = answer(call("\"{}\""), "tool_calls").message;
  const auto content = [&](EmptyContent style, const Adaptation& learnt = {}) {
    Profile profile;
    profile.empty_content = style;
    const Json sent = body({user("u"), message}, profile, {}, Api::chat, learnt)["messages"][1];
    return sent.contains("content") ? dump(sent["content"]) : "absent";
  };
  EXPECT_EQ(content(EmptyContent::null), "null");
  EXPECT_EQ(content(EmptyContent::empty), R"("")");
  EXPECT_EQ(content(EmptyContent::omit), "absent");
  EXPECT_EQ(content(EmptyContent::placeholder), "\"(no content)\"");
  Adaptation learnt;
  const Json sent = body({user("u"), message});
  const WireError error{"messages[1].content must be a string, not null", "", "", "", 0};
  EXPECT_TRUE(learn(learnt, 400, error, sent, {}));
  EXPECT_EQ(content(EmptyContent::null, learnt), R"("")");
  EXPECT_FALSE(learn(learnt, 400, error, sent, {}));
  // No empty lists, and no null without calls.
  const Json bare =
      body({user("u"), answer(R"({"content":null,"tool_calls":[]})").message})["messages"][1];
  EXPECT_EQ(bare, Json({{"role", "assistant"}, {"content", ""}}));
}

TEST(EndpointFaults, F16TruncatedArguments) {
  const std::string cut = call(R"("{\"kernel_code\":\"cut")");
  Asked request = asked();
  request.max_output_tokens = 100;
  const std::string full = R"({"prompt_tokens":1,"completion_tokens":100})";
  for (const Completion& got : {answer(cut, "length"), answer(cut, "tool_calls", request, full)}) {
    EXPECT_THAT(got.message.calls[0].problem, HasSubstr("output limit"));
    EXPECT_THAT(got.flags, Contains("arguments_cut"));
    const Json sent = body({user("u"), got.message})["messages"][1];
    EXPECT_EQ(sent["tool_calls"][0]["function"]["arguments"], "{}");
  }
  EXPECT_THAT(answer(cut, "tool_calls").message.calls[0].problem, Not(HasSubstr("output limit")));
}

}  // namespace
}  // namespace sweep::endpoint
