#include "endpoint/script.h"

#include "endpoint/builtin.h"
#include "endpoint/client.h"
#include "util/error.h"
#include "util/fake_clock.h"

#include <gmock/gmock.h>

#include <fstream>

namespace sweep::endpoint {
namespace {

using testing::HasSubstr;

// A folder of scripts that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "scriptsXXXXXX").string();
    path_ = mkdtemp(name.data());
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ~Folder() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr const char* kScript = R"(
model = "m"
[[conversation]]
problem = "level1/3"
[[conversation.turn]]
reasoning = "thinking about a sparse matrix with quite a few words, € included, to make several pieces"
text = "first"
calls = [{ tool = "compile_kernel", kernel = "k.cu" }, { tool = "get_gpu_specs" }]
faults = [{ status = 429, retry_after = "1" }, { cut = 0.5 }]
[[conversation.turn]]
text = "second"
[[conversation]]
problem = "*"
[[conversation.turn]]
text = "anything"
)";

struct Playing {
  Playing() {
    folder.write("m.toml", kScript);
    folder.write("k.cu", "//@ k<<<1, 1>>>(x)\n\"quoted\" \\ \xE2\x82\xAC\n");
    server = std::make_unique<ScriptServer>(folder.path());
  }

  std::variant<Completion, EndpointFailure> ask(const Conversation& conversation,
                                                Api api,
                                                bool stream,
                                                const std::string& model = "m") {
    Target target;
    target.api = api;
    target.base_url = server->base_url();
    target.model = model;
    target.stream = stream;
    Services services;
    services.clock = &clock;
    return connect(target, {}, services)
        ->complete(conversation, {{"compile_kernel", "", "{\"type\":\"object\"}"}}, {});
  }

  Folder folder;
  util::FakeClock clock;
  std::unique_ptr<ScriptServer> server;
};

TEST(ScriptServer, PlaysFaultsAndTurnsInBothFormatsStreamedAndNot) {
  Playing playing;
  for (const Api api : {Api::chat, Api::responses})
    for (const bool stream : {true, false}) {
      Conversation conversation = {{Speaker::system, "You"},
                                   {Speaker::user, "Problem level1/3: x"}};
      auto first = playing.ask(conversation, api, stream);
      ASSERT_EQ(first.index(), 0U) << std::get<EndpointFailure>(first).text;
      const Completion& answer = std::get<Completion>(first);
      ASSERT_EQ(answer.attempts.size(), 3U);
      EXPECT_EQ(answer.attempts[0].outcome, "rate_limited");
      EXPECT_EQ(answer.attempts[1].outcome, "transport");
      EXPECT_EQ(answer.message.text, "first");
      EXPECT_THAT(answer.message.reasoning, HasSubstr("\xE2\x82\xAC included"));
      ASSERT_EQ(answer.message.calls.size(), 2U);
      EXPECT_EQ(parse_json(answer.message.calls[0].arguments)->at("kernel_code"),
                "//@ k<<<1, 1>>>(x)\n\"quoted\" \\ \xE2\x82\xAC\n");
      EXPECT_GT(answer.usage.output, 0);
      EXPECT_FALSE(answer.usage.estimated);
      conversation.push_back(answer.message);
      for (const ToolCall& call : answer.message.calls)
        conversation.push_back({Speaker::tool, "ok", "", {}, call.id, call.name, ""});
      auto second = playing.ask(conversation, api, stream);
      ASSERT_EQ(second.index(), 0U);
      EXPECT_EQ(std::get<Completion>(second).message.text, "second");
      EXPECT_EQ(std::get<Completion>(second).finish, Finish::stop);
    }
}

TEST(ScriptServer, SaysWhatIsMissing) {
  Playing playing;
  const auto text = [&](const Conversation& conversation, const std::string& model) {
    auto result = playing.ask(conversation, Api::chat, true, model);
    EXPECT_EQ(result.index(), 1U);
    return std::get<EndpointFailure>(result).text;
  };
  EXPECT_THAT(text({{Speaker::user, "x"}}, "other"),
              HasSubstr("no script for model 'other'; there are: m"));
  EXPECT_THAT(text({{Speaker::user, "x"}, {Speaker::assistant, "a"}}, "m"),
              HasSubstr("turn 2 was asked for"));
  auto any = playing.ask({{Speaker::user, "level1/30 and level1/3x"}}, Api::chat, true);
  EXPECT_EQ(std::get<Completion>(any).message.text, "anything");
}

TEST(Scripts, MistakesNameFileLineAndRemedy) {
  const auto message = [](const std::string& text) {
    Folder folder;
    folder.write("a.toml", text);
    try {
      (void)load_scripts(folder.path());
    } catch (const util::UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string head =
      "model = \"m\"\n[[conversation]]\nproblem = \"*\"\n[[conversation.turn]]\n";
  EXPECT_THAT(message("model = "), HasSubstr("a.toml:1:"));
  EXPECT_THAT(message("x = 1"), HasSubstr("unknown key 'x'"));
  EXPECT_THAT(message(head + "txt = \"\""),
              HasSubstr("a.toml:5:1: unknown key 'txt'; did you mean 'text'?"));
  EXPECT_THAT(message(head + "calls = [{ tool = \"t\", kernel = \"../../etc/passwd\" }]"),
              HasSubstr("leaves the folder"));
  EXPECT_THAT(message(head + "calls = [{ tool = \"t\", kernel = \"none.cu\" }]"),
              HasSubstr("cannot be read"));
  EXPECT_THAT(message(head + "faults = [{}]"), HasSubstr("either a 'status' or a 'cut'"));
  EXPECT_THAT(message(head + "delay_ms = -1"), HasSubstr("must be a number"));
  EXPECT_EQ(message(head + "text = \"fine\""), "accepted");
  Folder empty;
  EXPECT_THROW((void)load_scripts(empty.path()), util::UsageError);
  EXPECT_THROW((void)load_scripts("/nonexistent"), util::UsageError);
}

TEST(Script, AModelThatNoScriptPlaysIsNamed) {
  Folder folder;
  folder.write("a.toml", "model = \"demo-fixer\"\n[[conversation]]\nproblem = \"*\"\nturn = []\n");
  EXPECT_NO_THROW(check_scripts(folder.path()));
  EXPECT_NO_THROW(check_scripts(folder.path(), "demo-fixer"));
  try {
    check_scripts(folder.path(), "demo-fixr");
    FAIL() << "accepted";
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_SCRIPT_MODEL");
    EXPECT_THAT(error.what(), HasSubstr("there are demo-fixer; did you mean 'demo-fixer'?"));
  }
}

TEST(Builtin, Names) {
  EXPECT_EQ(builtin_name("builtin:demo"), "demo");
  EXPECT_EQ(builtin_name("https://h/v1"), "");
}

}  // namespace
}  // namespace sweep::endpoint
