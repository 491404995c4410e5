// What profiles put on the wire.
#include "client_fixture.h"
#include "fault_case.h"

namespace sweep::endpoint {
namespace {

using test::always;
using test::body;
using test::Fixture;
using test::http_response;
using test::kPlain;
using test::profile_of;
using test::user;
using testing::HasSubstr;
using testing::Not;

TEST(ProfileWire, TheKeyGoesIntoOneHeader) {
  const auto head = [](Auth auth) {
    Fixture f(always(http_response("200 OK", kPlain)), Api::chat, false);
    f.target.profile.auth = auth;
    (void)f.answer();
    return f.server.requests().at(0);
  };
  EXPECT_THAT(head(Auth::bearer), HasSubstr("Authorization: Bearer sk-0123456789abcdef"));
  EXPECT_THAT(head(Auth::bearer), Not(HasSubstr("api-key:")));
  EXPECT_THAT(head(Auth::api_key), HasSubstr("api-key: sk-0123456789abcdef"));
  EXPECT_THAT(head(Auth::api_key), Not(HasSubstr("Authorization")));
  EXPECT_THAT(head(Auth::none), Not(HasSubstr("sk-0123456789abcdef")));
}

TEST(ProfileWire, AzureInferenceHasItsPathAndVersion) {
  Fixture f(always(http_response("200 OK", kPlain)), Api::chat, false);
  f.target.base_url = f.server.url();
  f.target.profile = profile_of("azure-inference");
  f.settings.max_output_tokens = 9;
  (void)f.answer();
  EXPECT_THAT(f.server.requests().at(0),
              HasSubstr("POST /models/chat/completions?api-version=2024-05-01-preview HTTP/1.1"));
  EXPECT_EQ(f.sent()["max_tokens"], 9);
}

TEST(ProfileWire, EffortSummaryAndChoiceByProfile) {
  Settings settings;
  settings.reasoning_effort = "high";
  settings.tool_required = true;
  EXPECT_EQ(body({user("u")}, {}, settings)["reasoning_effort"], "high");
  EXPECT_EQ(body({user("u")}, {}, settings)["tool_choice"], "required");
  const Json router = body({user("u")}, profile_of("openrouter"), settings);
  EXPECT_EQ(router["reasoning"]["effort"], "high");
  EXPECT_FALSE(router.contains("reasoning_effort"));
  EXPECT_EQ(body({user("u")}, profile_of("deepseek"), settings)["tool_choice"], "auto");
  const Json xai = body({user("u")}, profile_of("xai"), settings, Api::responses);
  EXPECT_FALSE(xai["reasoning"].contains("summary"));
  EXPECT_EQ(xai["reasoning"]["effort"], "high");
  EXPECT_EQ(xai["include"][0], "reasoning.encrypted_content");
  Profile chosen;
  chosen.parallel_tool_calls = "false";
  chosen.tool_choice = ToolChoice::omit;
  chosen.body = R"({"model":"theirs","top_k":20})";
  const Json sent = body({user("u")}, chosen, settings);
  EXPECT_EQ(sent["parallel_tool_calls"], false);
  EXPECT_FALSE(sent.contains("tool_choice"));
  EXPECT_EQ(sent["model"], "m");
  EXPECT_EQ(sent["top_k"], 20);
}

TEST(ProfileWire, ResponsesReplayNoReasoningWhereNoneIsWanted) {
  const Completion got = test::completion(
      test::read(R"({"status":"completed","model":"m","output":[)"
                 R"({"type":"reasoning","summary":[{"text":"s"}],"encrypted_content":"E"},)"
                 R"({"type":"function_call","call_id":"a","name":"look","arguments":"{}"},)"
                 R"({"type":"function_call","call_id":"b","name":"look","arguments":""}]})",
                 test::asked(),
                 Api::responses));
  EXPECT_EQ(got.message.reasoning, "s");
  ASSERT_EQ(got.message.calls.size(), 2U);
  const Conversation next = {
      user("u"), got.message, test::result("b", "2"), test::result("a", "1")};
  const Json whole = body(next, {}, {}, Api::responses)["input"];
  ASSERT_EQ(whole.size(), 6U);
  EXPECT_EQ(whole[1]["encrypted_content"], "E");
  EXPECT_EQ(whole[3]["arguments"], "{}");
  EXPECT_EQ(whole[4]["call_id"], "a");
  EXPECT_EQ(whole[5]["output"], "2");
  Profile none;
  none.reasoning_replay = Replay::none;
  const Json bare = body(next, none, {}, Api::responses);
  EXPECT_EQ(bare["input"].size(), 5U);
  EXPECT_EQ(bare["input"][1]["type"], "function_call");
  EXPECT_FALSE(bare.contains("include"));
}

}  // namespace
}  // namespace sweep::endpoint
