#include "endpoint/tool_text.h"

#include "endpoint/json.h"
#include "endpoint/think.h"

#include <gmock/gmock.h>

namespace sweep::endpoint {
namespace {

using testing::HasSubstr;

Offer offer() {
  Offer out;
  out.tools = {"submit", "look"};
  out.types[{"submit", "code"}] = "string";
  out.types[{"submit", "n"}] = "integer";
  return out;
}

const std::vector<Markup>& all() {
  static const std::vector<Markup> formats = Profile().tool_markup;
  return formats;
}

// Names and arguments of the calls: "submit{..};look{..}", then "!" when markup is left.
std::string calls(const std::string& text, const std::vector<Markup>& formats = all()) {
  const TextCalls found = calls_in_text(text, offer(), formats);
  std::string out;
  for (const ToolCall& call : found.calls) {
    EXPECT_TRUE(call.from_text);
    EXPECT_FALSE(call.markup.empty());
    EXPECT_TRUE(parse_json(call.arguments)) << call.arguments;
    out += (out.empty() ? "" : ";") + call.name + call.arguments;
  }
  return out + (found.left ? "!" : "");
}

TEST(TextCalls, Hermes) {
  EXPECT_EQ(calls("Now.\n<tool_call>\n{\"name\": \"submit\", \"arguments\": {\"code\": \"x\ny\"}}\n"
                  "</tool_call>"),
            R"(submit{"code":"x\ny"})");
  EXPECT_EQ(calls(R"(<tool_call>{"name":"look","arguments":{}}</tool_call>
<tool_call>{"name":"submit","arguments":"{\"code\":\"</tool_call>\"}"}</tool_call>)"),
            R"(look{};submit{"code":"</tool_call>"})");
  EXPECT_EQ(calls(R"(<tools>{"name":"look","arguments":{}}</tools>)"), "look{}");
  EXPECT_EQ(calls(R"(<tool_call>{"name":"look"}<|im_end|>)"), "look{}");
}

TEST(TextCalls, NothingIsClosedForTheModel) {
  for (const char* broken : {R"(<tool_call>{"name":"look","arguments":{)",
                             R"(<tool_call>{"name":"submit","arguments":{"code":"x)",
                             R"(<tool_call>{"name":"look"} and more)",
                             R"(<tool_call>{"name":"nosuch"}</tool_call>)",
                             R"(<tool_call>{"name":"look","arguments":[1]}</tool_call>)",
                             "<function=submit><parameter=code>x</function>",
                             "<function=submit><parameter=code>x</parameter>",
                             "<tool_call>submit<arg_key>code</arg_key><arg_value>x</tool_call>",
                             "<|python_tag|>submit(code=\"x)",
                             "<|python_tag|>submit(\"x\")",
                             "<|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{",
                             "<|open|>tools look",
                             "[TOOL_CALLS] look"})
    EXPECT_EQ(calls(broken), "!") << broken;
}

TEST(TextCalls, Qwen3Xml) {
  EXPECT_EQ(calls("<tool_call>\n<function=submit>\n<parameter=code>\nint a = b < c;\n"
                  "</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>"),
            R"(submit{"code":"int a = b < c;","n":3})");
  EXPECT_EQ(calls("<function=submit><parameter=code>a</parameter> b</parameter></function>"),
            R"(submit{"code":"a</parameter> b"})");
  EXPECT_EQ(calls(R"(<function=look>{"a":1}</function>)"), R"(look{"a":1})");
  EXPECT_EQ(calls("<function=look></function>"), "look{}");
  // A string stays the text that it is, and so does what is no number.
  EXPECT_EQ(calls("<function=submit><parameter=code>12</parameter>"
                  "<parameter=n>many</parameter></function>"),
            R"(submit{"code":"12","n":"many"})");
}

TEST(TextCalls, Glm) {
  EXPECT_EQ(calls("<tool_call>submit\n<arg_key>code</arg_key>\n<arg_value>\na\nb\n</arg_value>\n"
                  "<arg_key>n</arg_key>\n<arg_value>7</arg_value>\n</tool_call>"),
            R"(submit{"code":"a\nb","n":7})");
  EXPECT_EQ(calls("<tool_call>look</tool_call>"), "look{}");
}

TEST(TextCalls, Kimi) {
  const std::string one =
      "<|tool_call_begin|>functions.look:3<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|>";
  EXPECT_EQ(calls("<|tool_calls_section_begin|>" + one + one + "<|tool_calls_section_end|>"),
            R"(look{"a":1};look{"a":1})");
  EXPECT_EQ(calls_in_text(one, offer(), all()).calls.at(0).id, "functions.look:3");
}

TEST(TextCalls, Pythonic) {
  EXPECT_EQ(calls(R"([submit(code="a\n'b'", n=-2), look()])"),
            R"(submit{"code":"a\n'b'","n":-2};look{})");
  EXPECT_EQ(calls("<|python_tag|>submit.call(code='''x = \"1\"\ny''', n=1e3)<|eom_id|>"),
            R"(submit{"code":"x = \"1\"\ny","n":1000.0})");
  EXPECT_EQ(
      calls(R"(<|tool_call_start|>[look(a=[1, {"b": None}], c=True, d=r'\n')]<|tool_call_end|>)"),
      R"(look{"a":[1,{"b":null}],"c":true,"d":"\\n"})");
  EXPECT_EQ(calls(R"(<|python_tag|>{"name":"look","parameters":{}})"), "look{}");
  EXPECT_EQ(calls("See [look(a=1)] there."), "");
  EXPECT_EQ(calls("[look(a=1), x]"), "");
}

TEST(TextCalls, PlainJson) {
  EXPECT_EQ(calls(R"({"name":"look","arguments":{"a":1}})"), R"(look{"a":1})");
  EXPECT_EQ(calls(R"([{"tool":"look","parameters":{}},{"function":{"name":"look"}}])"),
            "look{};look{}");
  EXPECT_EQ(calls(R"(I call {"name":"look","arguments":{}})"), "");
  EXPECT_EQ(calls(R"({"name":"nosuch","arguments":{}})"), "");
}

TEST(TextCalls, FencesAreCodeUnlessTheFenceIsTheCall) {
  const std::string hermes = R"(<tool_call>{"name":"look","arguments":{}}</tool_call>)";
  const std::string json = R"({"tool":"look","parameters":{}})";
  EXPECT_EQ(calls("```json\n" + json + "\n```"), "look{}");
  EXPECT_EQ(calls("```\n" + hermes + "\n```"), "look{}");
  EXPECT_EQ(calls("```json\n" + json + "\n```", {Markup::hermes, Markup::json}), "");
  EXPECT_EQ(calls("```\nFor example " + hermes + "\n```"), "");
  EXPECT_EQ(calls("```\n" + hermes), "");
  EXPECT_EQ(calls("```cuda\nint a;\n```\n" + hermes), "look{}");
  EXPECT_EQ(calls("```json\n{\"name\":\"rm\",\"arguments\":{}}\n```"), "");
}

TEST(TextCalls, FormatsThatAreOffAreFlagged) {
  const std::string hermes = R"(<tool_call>{"name":"look","arguments":{}}</tool_call>)";
  EXPECT_EQ(calls(hermes, {}), "!");
  EXPECT_EQ(calls(hermes, {Markup::glm}), "!");
  EXPECT_TRUE(has_tool_markup("x " + hermes));
  EXPECT_TRUE(
      has_tool_markup("<\xEF\xBD\x9C"
                      "DSML\xEF\xBD\x9C"
                      "function_calls>"));
  EXPECT_FALSE(has_tool_markup("```\n" + hermes + "\n```"));
  EXPECT_FALSE(has_tool_markup("a < b && c<d>"));
}

TEST(TextCalls, AreBounded) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += R"(<tool_call>{"name":"look"}</tool_call>)";
  const TextCalls found = calls_in_text(text, offer(), all());
  EXPECT_EQ(found.calls.size(), 16U);
  EXPECT_TRUE(found.left);
  EXPECT_EQ(calls("<|python_tag|>look(a=" + std::string(5000, '[') + ")"), "!");
}

TEST(Think, SplitsReasoningFromText) {
  const auto split = [](std::string_view text, bool prefilled = false) {
    const ThinkSplit out = split_think(text, prefilled);
    return out.reasoning + "|" + out.text + (out.stray ? "!" : "");
  };
  EXPECT_EQ(split("<think>a</think>b"), "a|b");
  EXPECT_EQ(split(" <think>\na\n</think>\n\nb"), "a|b");
  EXPECT_EQ(split("<think>a<think>b</think>c</think>d"), "a<think>b</think>c|d");
  EXPECT_EQ(split("<think>a <think> b</think>c"), "a <think> b|c");
  EXPECT_EQ(split("<think>a</think>b</think>c"), "a|b</think>c");
  EXPECT_EQ(split("<think>never closed"), "never closed|");
  EXPECT_EQ(split("a</think>b"), "|a</think>b!");
  EXPECT_EQ(split("a</think>b", true), "a|b");
  EXPECT_EQ(split("```\n__global__\n```\nx</think>b", true), "```\n__global__\n```\nx|b");
  EXPECT_EQ(split("```\n</think>\n``` b", true), "|```\n</think>\n``` b");
  EXPECT_EQ(split("plain", true), "|plain");
}

}  // namespace
}  // namespace sweep::endpoint
