// Messages, parameters and addresses as servers bend them; docs/endpoints.md has the table.
#include "client_fixture.h"
#include "endpoint/base_url.h"
#include "fault_case.h"
#include "util/text.h"

namespace sweep::endpoint {
namespace {

using test::always;
using test::answer;
using test::asked;
using test::body;
using test::call;
using test::completion;
using test::Fixture;
using test::http_response;
using test::in_turn;
using test::kPlain;
using test::profile_of;
using test::read;
using test::result;
using test::user;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(EndpointFaults, F17ReasoningOnlyAndEmptyAnswers) {
  const Completion thought =
      answer(R"({"content":"","reasoning_content":"__global__ void k(){}"})");
  EXPECT_EQ(thought.message.text, "");
  EXPECT_THAT(thought.flags, Contains("reasoning_only"));
  const Completion nothing = answer(R"({"content":null})", "length");
  EXPECT_THAT(nothing.flags, Contains("empty_answer"));
  EXPECT_EQ(nothing.finish, Finish::length);
}

TEST(EndpointFaults, F18ThinkInContent) {
  const auto split = [](const std::string& text, const char* profile) {
    return answer(dump(Json({{"content", text}})), "stop", asked(profile_of(profile)));
  };
  EXPECT_EQ(split("<think>a</think>b", "openai").message.text, "b");
  EXPECT_EQ(split("```\nx\n```\n</think>b", "vllm").message.text, "b");
  const Completion kept = split("about </think> tags", "openai");
  EXPECT_EQ(kept.message.text, "about </think> tags");
  EXPECT_THAT(kept.flags, Contains("think_tag_in_text"));
  // The server's own words go back, unless the profile replays no reasoning.
  const Message message = split("<think>a</think>b", "generic").message;
  EXPECT_EQ(body({user("u"), message})["messages"][1]["content"], "<think>a</think>b");
  Profile none;
  none.reasoning_replay = Replay::none;
  EXPECT_EQ(body({user("u"), message}, none)["messages"][1]["content"], "b");
}

TEST(EndpointFaults, F18ReasoningGoesBackAsTheServerReadsIt) {
  const Message message = answer(R"({"content":"x","reasoning":"r"})").message;
  const auto sent = [&](Replay replay) {
    Profile profile;
    profile.reasoning_replay = replay;
    Json out = body({user("u"), message}, profile)["messages"][1];
    return (out.contains("reasoning") ? "r" : "-") +
           std::string(out.contains("reasoning_content") ? "c" : "-");
  };
  EXPECT_EQ(sent(Replay::same_field), "r-");
  EXPECT_EQ(sent(Replay::both), "rc");
  EXPECT_EQ(sent(Replay::none), "--");
  const Completion details = test::streamed(
      {R"({"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]})",
       R"({"reasoning_details":[{"type":"reasoning.text","text":"b","index":0,"signature":"S"}]})",
       R"({"content":"x"})"});
  EXPECT_EQ(details.message.reasoning, "ab");
  const Json replayed = body({user("u"), details.message})["messages"][1]["reasoning_details"];
  ASSERT_EQ(replayed.size(), 1U);
  EXPECT_EQ(replayed[0]["signature"], "S");
}

TEST(EndpointFaults, F19NoChoices) {
  for (const char* document : {R"({"id":"x","choices":[]})",
                               R"({"choices":null})",
                               R"({"choices":{}})",
                               "{}",
                               R"({"choices":[{"index":0}]})"}) {
    const auto got = read(document);
    ASSERT_EQ(got.index(), 1U) << document;
    EXPECT_THAT(std::get<WireError>(got).code, HasSubstr("no_")) << document;
  }
  EXPECT_THAT(std::get<WireError>(read(R"({"id":"x77","choices":[]})")).message, HasSubstr("x77"));
  const std::string refusal = R"({"choices":[],"usage":{"prompt_tokens":9}})";
  EXPECT_EQ(read(refusal).index(), 1U);
  const Completion gemini = completion(read(refusal, asked(profile_of("gemini"))));
  EXPECT_EQ(gemini.finish, Finish::content_filter);
  EXPECT_THAT(gemini.flags, Contains("refusal"));
  Fixture f(always(http_response("200 OK", R"({"choices":[]})")));
  const auto failed = f.ask();
  EXPECT_EQ(std::get<EndpointFailure>(failed).kind, FailureKind::protocol);
}

TEST(EndpointFaults, F20ErrorInsideA200) {
  const auto kind = [](const std::string& document) {
    return classify(200, std::get<WireError>(read(document)));
  };
  EXPECT_EQ(kind(R"({"error":{"code":429,"message":"slow"}})"), FailureKind::rate_limited);
  EXPECT_EQ(kind(R"({"choices":[{"error":{"code":502,"message":"up"},"finish_reason":"error"}]})"),
            FailureKind::overloaded);
  EXPECT_EQ(kind(R"([{"error":{"code":503,"message":"x"}}])"), FailureKind::overloaded);
  EXPECT_EQ(classify(200,
                     std::get<WireError>(
                         read(R"({"status":"failed","error":null})", asked(), Api::responses))),
            FailureKind::overloaded);
  EXPECT_THAT(
      answer(R"({"content":"x"})", "stop", asked(), R"({"prompt_tokens":0,"completion_tokens":0})")
          .flags,
      Contains("usage_zero"));
}

TEST(EndpointFaults, F21UsageMissing) {
  Fixture f(always(http_response("200 OK", R"({"choices":[{"message":{"content":"12345678"}}]})")));
  const Completion got = f.answer();
  EXPECT_TRUE(got.usage.estimated);
  EXPECT_EQ(got.usage.output, 2);
  EXPECT_THAT(got.flags, Contains("usage_estimated"));
  Fixture zero(always(http_response(
      "200 OK",
      R"({"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}})")));
  EXPECT_TRUE(zero.answer().usage.estimated);
  EXPECT_EQ(zero.answer().usage.output, 2);
  Fixture absurd(always(http_response(
      "200 OK",
      R"({"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":1}})")));
  const Completion counted = absurd.answer();
  EXPECT_EQ(counted.usage.output, 2);
  EXPECT_THAT(counted.flags, Contains("usage_impossible"));
}

TEST(EndpointFaults, F21UsageInEveryConvention) {
  const auto usage = [](const std::string& json) {
    return answer(R"({"content":"x"})", "stop", asked(), json);
  };
  const Usage xai =
      usage(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":25,)"
            R"("completion_tokens_details":{"reasoning_tokens":10},"cost_in_usd_ticks":1230})")
          .usage;
  EXPECT_EQ(xai.output, 15);
  EXPECT_EQ(xai.provider_nano_usd, 123);
  const Usage claude = usage(R"({"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":7,)"
                             R"("cache_creation_input_tokens":3})")
                           .usage;
  EXPECT_EQ(claude.input, 20);
  EXPECT_EQ(claude.cached, 7);
  EXPECT_EQ(claude.cache_write, 3);
  EXPECT_EQ(usage(R"({"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":4})")
                .usage.cached,
            4);
  EXPECT_THAT(usage(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":99})").flags,
              Contains("usage_inconsistent"));
}

TEST(EndpointFaults, F22StreamOptionsRejected) {
  Fixture f(in_turn(
      {http_response("400 Bad Request", R"({"error":{"message":"Unknown field: stream_options"}})"),
       test::sse_response(test::full_stream())}));
  const Completion got = f.answer();
  EXPECT_TRUE(f.sent(0).contains("stream_options"));
  EXPECT_FALSE(f.sent(1).contains("stream_options"));
  EXPECT_THAT(got.flags, Contains("param_dropped:stream_options"));
  Profile silent;
  silent.include_usage = false;
  Target target;
  target.profile = silent;
  EXPECT_FALSE(make_chat()->request(target, {user("u")}, {}, {}, {}).contains("stream_options"));
}

TEST(EndpointFaults, F23ModelMismatch) {
  const auto got = [](ModelMatch match, const std::string& model) {
    Profile profile;
    profile.require_model_match = match;
    Asked request = asked(profile);
    request.model = "gpt-5";
    return read(R"({"model":")" + model + R"(","choices":[{"message":{"content":"x"}}]})", request)
        .index();
  };
  EXPECT_EQ(got(ModelMatch::off, "other"), 0U);
  EXPECT_EQ(got(ModelMatch::prefix, "gpt-5-2026-08-01"), 0U);
  EXPECT_EQ(got(ModelMatch::prefix, "other"), 1U);
  EXPECT_EQ(got(ModelMatch::exact, "gpt-5-2026-08-01"), 1U);
  EXPECT_EQ(got(ModelMatch::exact, "gpt-5"), 0U);
  Fixture f(always(http_response("200 OK", kPlain)), Api::chat, false);
  f.target.model = "other";
  EXPECT_THAT(f.answer().flags, Contains("model_mismatch"));
  f.target.profile.require_model_match = ModelMatch::exact;
  const auto failed = f.ask();
  EXPECT_EQ(std::get<EndpointFailure>(failed).kind, FailureKind::bad_request);
  EXPECT_FALSE(body({user("u")}, profile_of("openrouter"))["provider"]["allow_fallbacks"]);
}

TEST(EndpointFaults, F24UnknownWordsAndItems) {
  const Completion chat = answer(R"({"content":"x","new_thing":{"a":1}})", "novel_reason");
  EXPECT_EQ(chat.finish, Finish::other);
  EXPECT_EQ(chat.finish_raw, "novel_reason");
  EXPECT_EQ(body({user("u"), chat.message})["messages"][1]["new_thing"]["a"], 1);
  const Completion got = completion(read(
      R"({"status":"novel","output":[{"type":"novel_item","id":"n","data":[1],"status":{"status":1}},3,)"
      R"({"type":"message","content":[{"type":"novel_part"},{"type":"output_text","text":"x"}]}]})",
      asked(),
      Api::responses));
  EXPECT_EQ(got.message.text, "x");
  const Json input = body({user("u"), got.message}, {}, {}, Api::responses)["input"];
  EXPECT_EQ(input[1]["type"], "novel_item");
  EXPECT_EQ(input[1]["data"][0], 1);
  EXPECT_EQ(input[1]["status"]["status"], 1);
}

TEST(EndpointFaults, F24AnEndThatIsTheServersIsNoAnswer) {
  for (const char* reason : {"insufficient_system_resource", "network_error", "error", "abort"}) {
    const auto answer =
        read(R"({"choices":[{"finish_reason":")" + std::string(reason) +
                 R"(","message":{"role":"assistant","content":"half"}}],"usage":{}})",
             asked());
    ASSERT_EQ(answer.index(), 1U) << reason;
    EXPECT_EQ(std::get<WireError>(answer).status, 503) << reason;
  }
  for (const char* status : {"queued", "in_progress"})
    EXPECT_EQ(
        read(R"({"status":")" + std::string(status) + R"(","output":[]})", asked(), Api::responses)
            .index(),
        1U)
        << status;
}

TEST(EndpointFaults, F33StrictTemplates) {
  const Conversation conversation = {
      {Speaker::system, "one"}, user("u"), {Speaker::system, "two"}, user("v")};
  const Json messages = body(conversation)["messages"];
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0], Json({{"role", "system"}, {"content", "one\n\ntwo"}}));
  EXPECT_EQ(messages[1]["role"], "user");
  Profile developer;
  developer.system_role = SystemRole::developer;
  EXPECT_EQ(body(conversation, developer)["messages"][0]["role"], "developer");
  EXPECT_EQ(body(conversation, {}, {}, Api::responses)["instructions"], "one\n\ntwo");
}

TEST(EndpointFaults, F35NameOfTheTokenLimit) {
  Settings settings;
  settings.max_output_tokens = 5;
  const Json fresh = body({user("u")}, {}, settings);
  EXPECT_EQ(fresh["max_completion_tokens"], 5);
  EXPECT_FALSE(fresh.contains("max_tokens"));
  Adaptation learnt;
  const WireError no_new{"unrecognized: max_completion_tokens", "", "", "", 0};
  EXPECT_TRUE(learn(learnt, 422, no_new, fresh, {}));
  const Json old = body({user("u")}, {}, settings, Api::chat, learnt);
  EXPECT_EQ(old["max_tokens"], 5);
  EXPECT_FALSE(old.contains("max_completion_tokens"));
  EXPECT_FALSE(learn(learnt, 400, no_new, old, {}));
  Adaptation other;
  const Json deepseek = body({user("u")}, profile_of("deepseek"), settings);
  EXPECT_EQ(deepseek["max_tokens"], 5);
  EXPECT_TRUE(learn(other,
                    400,
                    {"Use 'max_completion_tokens' instead of max_tokens",
                     "unsupported_parameter",
                     "",
                     "max_tokens",
                     0},
                    deepseek,
                    {}));
  EXPECT_EQ(other.token_field, TokenField::max_completion_tokens);
}

TEST(EndpointFaults, F36RefusedParameters) {
  Settings settings;
  settings.temperature = 0.5;
  settings.reasoning_effort = "high";
  const Json sent = body({user("u")}, {}, settings);
  const auto learns = [&](const char* message, const char* param, const Profile& profile = {}) {
    Adaptation learnt;
    return learn(learnt, 400, {message, "", "", param, 0}, sent, profile)
               ? (learnt.dropped.empty() ? "?" : *learnt.dropped.begin())
               : "";
  };
  EXPECT_EQ(learns("invalid temperature: only 1 is allowed for this model", ""), "temperature");
  EXPECT_EQ(learns("Unsupported value", "reasoning_effort"), "reasoning_effort");
  EXPECT_EQ(learns("tool_choice 'required' is incompatible with thinking", ""), "tool_choice");
  // Words of English are no names, and what was not sent cannot be left out.
  EXPECT_EQ(learns("the messages must include a stop", ""), "");
  EXPECT_EQ(learns("top_p is not supported", ""), "");
  EXPECT_EQ(learns("temperatures", ""), "");
  Profile strict;
  strict.strict_params = true;
  EXPECT_EQ(learns("invalid temperature", "temperature", strict), "");
}

TEST(EndpointFaults, F36ProfilesWithholdAndSayIt) {
  Settings settings;
  settings.temperature = 0.5;
  settings.tool_required = true;
  Profile profile = profile_of("kimi");
  profile.omit = {"temperature", "messages"};
  const Json sent = body({user("u")}, profile, settings);
  EXPECT_FALSE(sent.contains("temperature"));
  EXPECT_TRUE(sent.contains("messages"));
  EXPECT_EQ(sent["tool_choice"], "auto");
  Completion got;
  flag_changes({}, profile, settings, got);
  EXPECT_THAT(got.flags, Contains("param_withheld:temperature"));
  EXPECT_THAT(got.flags, Contains("param_withheld:tool_choice"));
  profile.strict_params = true;
  EXPECT_EQ(body({user("u")}, profile, settings)["temperature"], 0.5);
}

TEST(EndpointFaults, F37FormsOfBaseUrl) {
  const auto url = [](const char* base, const char* profile = "auto", const char* model = "m") {
    Target target;
    target.base_url = base;
    target.model = model;
    config::EndpointKeys keys;
    keys.profile = profile;
    target.profile = resolve(keys, base);
    return request_url(target, "/chat/completions");
  };
  for (const char* base : {"https://h/v1",
                           "https://h/v1/",
                           "https://h/v1//",
                           "https://h/v1/chat/completions",
                           "https://h/v1/chat/completions/"})
    EXPECT_EQ(url(base), "https://h/v1/chat/completions") << base;
  EXPECT_EQ(url("https://h"), "https://h/chat/completions");
  EXPECT_EQ(url("https://r.openai.azure.com/openai/v1/"),
            "https://r.openai.azure.com/openai/v1/chat/completions");
  const std::string classic =
      "https://r.openai.azure.com/openai/deployments/gpt%204/chat/completions"
      "?api-version=2024-10-21";
  EXPECT_EQ(url("https://r.openai.azure.com", "auto", "gpt 4"), classic);
  EXPECT_EQ(url("https://r.openai.azure.com/openai/", "auto", "gpt 4"), classic);
  EXPECT_EQ(url("https://r.openai.azure.com/openai/deployments/gpt%204/", "auto", "gpt 4"),
            classic);
  EXPECT_EQ(url("https://r.openai.azure.com/openai/deployments/D/chat/completions?api-version=X"),
            "https://r.openai.azure.com/openai/deployments/D/chat/completions?api-version=X");
  EXPECT_EQ(url("https://r.services.ai.azure.com/models"),
            "https://r.services.ai.azure.com/models/chat/completions"
            "?api-version=2024-05-01-preview");
}

TEST(EndpointFaults, F42InvalidUtf8Outward) {
  Message broken = answer(R"({"content":"half \ud83d"})").message;
  const std::string text = dump(body({{Speaker::system, "\xFF s"},
                                      user("cut \xE2\x82"),
                                      broken,
                                      user("\xED\xA0\x80"),
                                      result("x", std::string("nul \0 \xC3", 7))}));
  EXPECT_TRUE(util::valid_utf8(text));
  EXPECT_TRUE(Json::accept(text));
  EXPECT_THAT(text, Not(HasSubstr("\\ud83d")));
}

TEST(EndpointFaults, F43Oversized) {
  const std::string large(std::size_t{2} << 20, 'x');
  const Completion got = answer(call(dump(Json(R"({"kernel_code":")" + large + "\"}"))));
  EXPECT_THAT(got.message.calls[0].problem, HasSubstr("1 MiB"));
  const Json sent = body({user("u"), got.message})["messages"][1];
  EXPECT_EQ(sent["tool_calls"][0]["function"]["arguments"], "{}");
  EXPECT_LT(dump(sent).size(), 4096U);
  EXPECT_EQ(read(std::string(5000, '[') + std::string(5000, ']')).index(), 1U);
}

}  // namespace
}  // namespace sweep::endpoint
