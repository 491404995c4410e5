#include "../../support/test_name.h"
#include "config/schema.h"
#include "support.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::config {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Config, AMinimalFileHasDefaultsForTheRest) {
  const Loaded loaded = read(kMinimal);
  const SweepConfig& c = loaded.config;
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(c.run.runs_dir, "/root/runs");
  EXPECT_THAT(c.run.selection.variants, ElementsAre("popcorn2"));
  EXPECT_EQ(c.agent.harness.name, "default");
  EXPECT_THAT(
      c.agent.harness.tools,
      ElementsAre(
          "compile_kernel", "run_correctness", "get_gpu_specs", "static_check", "submit_kernel"));
  EXPECT_EQ(c.agent.harness.max_turns, 10);
  EXPECT_EQ(c.parallelism.agents_per_gpu, 4);
  EXPECT_EQ(c.models[0].deployment_name, "gpt-5.5");
  EXPECT_EQ(c.models[0].api_kind, ApiKind::responses);
  EXPECT_EQ(c.models[0].max_concurrency, 10);
  EXPECT_FALSE(c.models[0].price.has_value());
  EXPECT_TRUE(c.models[0].stream);
  EXPECT_FALSE(read(std::string(kMinimal) + "stream = false\n").config.models[0].stream);
}

TEST(Config, EveryMistakeHasItsPlaceAndACure) {
  const std::string text = errors_of(R"([run]
name = "r"
slate = "popcorn2"
max_turnz = 3
seed = "one"
[agent]
max_turn = 15
max_tool_calls = 0
harness = "defualt"
[[models]]
name = "m"
base_url = "http://localhost/v1"
api_knd = "openai"
[[models]]
name = "m"
base_url = "ftp://x"
)");
  EXPECT_THAT(text, HasSubstr("x.toml:4:1: unknown key 'max_turnz' in [run]"));
  EXPECT_THAT(text, HasSubstr("x.toml:5:8: seed is a text; a whole number is expected"));
  EXPECT_THAT(
      text, HasSubstr("x.toml:7:1: unknown key 'max_turn' in [agent]; did you mean 'max_turns'?"));
  EXPECT_THAT(text,
              HasSubstr("x.toml:8:18: max_tool_calls = 0 is out of range; 1 to 100000 is allowed"));
  EXPECT_THAT(text, HasSubstr("x.toml:9:1: unknown harness 'defualt'; did you mean 'default'?"));
  EXPECT_THAT(
      text,
      HasSubstr("x.toml:13:1: unknown key 'api_knd' in [[models]]; did you mean 'api_kind'?"));
  EXPECT_THAT(text, HasSubstr("x.toml:15:1: model 'm' is there twice"));
  EXPECT_THAT(text, HasSubstr("x.toml:16:1: base_url is no http(s) address"));
}

struct Bad {
  const char* run;
  const char* rest;
  const char* message;
};

class ConfigMistake : public ::testing::TestWithParam<Bad> {};

TEST_P(ConfigMistake, IsNamed) {
  EXPECT_THAT(errors_of(with(GetParam().run, GetParam().rest)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    ConfigMistake,
    ::testing::Values(
        Bad{"", "", "[run] selects no problems"},
        Bad{"slate = \"popcorn3\"",
            "",
            "x.toml:3:9: no slate 'popcorn3'; did you mean 'popcorn2'?"},
        Bad{"slate = \"missing.toml\"", "", "no such file"},
        Bad{"problems = [\"level1/3\"]\nisa_policy = \"gates\"",
            "",
            "x.toml:4:1: isa_policy 'gates' is unknown; did you mean 'gate'?"},
        Bad{"problems = [\"level1/3\"]\n[agent]\nptx_hub = \"sm_90\"",
            "",
            "x.toml:5:1: ptx_hub 'sm_90' is unknown; did you mean 'sm_90a'?"},
        Bad{"problems = [\"level1/33\"]", "", "x.toml:3:13: no problem 'level1/33'; did you mean"},
        Bad{"problems = [\"level1/3\",\n \"level1/33\"]", "", "x.toml:4:2: no problem"},
        Bad{"problems = [\"sci/heat\"]", "", "did you mean 'sci/heat2d'?"},
        Bad{"problems = [1]", "", "problems[0] is a whole number"},
        Bad{"levels = [1]\nvariant = \"popcorn3\"", "", "unknown variant 'popcorn3'"},
        Bad{"levels = [9]\nvariant = \"popcorn\"",
            "",
            "x.toml:3:11: variant 'popcorn' has no level 9"},
        Bad{"levels = [1]\nvariant = \"popcorn\"\nproblem_subset = [1, 99]",
            "",
            "x.toml:5:22: problem_subset names 99"},
        Bad{"slate = \"demo\"\ntools = \"compile\"", "", "unknown tool 'compile'"},
        Bad{"slate = \"demo\"\nbackend = \"triton\"", "", "backend 'triton' is not supported here"},
        Bad{"slate = \"demo\"\ndevice = \"gpu\"", "", "device 'gpu' is unknown"},
        Bad{"slate = \"demo\"\ncompiler = \"clang\"", "", "compiler 'clang' is unknown"},
        Bad{"slate = \"demo\"\ndevice = \"cpu\"\ncompiler = \"nvcc\"",
            "",
            "compiles with g++ alone"},
        Bad{"slate = \"demo\"\nbudget_usd = 5", "", "the price of 'm' is unknown"},
        Bad{"slate = \"demo\"\nbudget_usd = nan", "", "budget_usd is out of range"},
        Bad{"slate = \"demo\"\nvariants = [\"a\", \"a\"]",
            "",
            "variant 'a' is empty or there twice"},
        Bad{"slate = \"demo\"", "api_kind = \"anthropic\"", "api_kind 'anthropic' is unknown"},
        Bad{"slate = \"demo\"", "api_key_env = \"sk-1234\"", "api_key_env is no variable name"},
        Bad{"slate = \"demo\"",
            "[models.sampling]\ntemperature = 3",
            "temperature is out of range; 0 to 2"},
        Bad{"slate = \"demo\"",
            "[models.price]\ninput = 3",
            "[models.price] needs input and output"},
        Bad{"slate = \"demo\"",
            "[agent]\nharness = \"single_turn\"\nmax_turns = 3",
            "this harness has one turn"},
        Bad{"slate = \"demo\"",
            "[agnt]\nmax_turns = 3",
            "unknown table or key 'agnt'; did you mean 'agent'?"},
        Bad{"slate = \"demo\"\nslate = \"demo\"", "", "x.toml:4:"},
        Bad{"slate = ", "", "x.toml:3:"}),
    sweep::test::named(&Bad::message));

TEST(Config, NeverRepeatsASecret) {
  EXPECT_THAT(errors_of(with("slate = \"demo\"", "api_key_env = \"sk-hunter2\"")),
              ::testing::Not(HasSubstr("hunter2")));
  const std::string url =
      "[run]\nname=\"r\"\nslate=\"demo\"\n[[models]]\nname=\"m\"\nbase_url=\"https://"
      "me:hunter2@host/v1\"\n";
  EXPECT_THAT(errors_of(url),
              AllOf(HasSubstr("base_url holds a user name"), ::testing::Not(HasSubstr("hunter2"))));
}

TEST(Config, AKeyInThePlaceOfItsVariableIsRefusedAndNotShown) {
  const auto errors = [](const std::string& name) {
    return errors_of(with("slate = \"demo\"", "api_key_env = \"" + name + "\""));
  };
  for (const char* key : {"hf_AbCdhunter2",
                          "gsk_Hunter2hunter2hunter2",
                          "glpat_hunter2hunter2",
                          "Hunter2Hunter2Hunter2",
                          "0123456789abcdef0123456789hunter",
                          "a123456789abcdef0123456789hunter"}) {
    const std::string text = errors(key);
    EXPECT_THAT(
        text, ::testing::AnyOf(HasSubstr("looks like a key itself"), HasSubstr("is no variable")));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("unter2")));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("abcdef")));
  }
  for (const char* name : {"OPENAI_API_KEY",
                           "hf_token",
                           "hf_token_2",
                           "sk_key",
                           "AZURE_OPENAI_SWEDEN_CENTRAL_2_KEY",
                           "MyKey2",
                           "a_long_variable_for_the_key_of_host_2"}) {
    EXPECT_EQ(errors(name), "ok") << name;
  }
}

TEST(Config, AKeyInTheWrongTableOfAModelIsSentHome) {
  const auto errors = [](const std::string& lines) {
    return errors_of(with("slate = \"demo\"", lines));
  };
  EXPECT_THAT(errors("temperature = 1"), HasSubstr("it belongs in [models.sampling]"));
  EXPECT_THAT(errors("max_tokens = 1"), HasSubstr("it belongs in [models.sampling]"));
  EXPECT_THAT(errors("profile = \"vllm\""), HasSubstr("it belongs in [models.endpoint]"));
  EXPECT_THAT(errors("tool_markup = \"off\""), HasSubstr("it belongs in [models.endpoint]"));
  EXPECT_THAT(errors("[models.sampling]\nrpm = 3"), HasSubstr("it belongs in [[models]]"));
  EXPECT_THAT(errors("budget_usd = 3"), HasSubstr("it belongs in [run]"));
  EXPECT_THAT(errors("api_key = \"hunter2\""),
              AllOf(HasSubstr("api_key_env = \"NAME\""), ::testing::Not(HasSubstr("hunter2"))));
  EXPECT_THAT(errors("max_output_tokens = 3"), HasSubstr("max_tokens in [models.sampling]"));
}

TEST(Config, ARemoteModelNeedsAKeyAndBuiltinDoesNot) {
  EXPECT_THAT(errors_of("[run]\nname=\"r\"\nslate=\"demo\"\n[[models]]\nname=\"m\"\nbase_url="
                        "\"https://host/v1\"\n"),
              HasSubstr("has no api_key_env"));
  const SweepConfig c =
      read("[run]\nname=\"r\"\nslate=\"demo\"\n[[models]]\nname=\"m\"\nbase_url=\"builtin:demo\"\n")
          .config;
  EXPECT_TRUE(c.models[0].price->free);
}

TEST(Config, HarnessesSetToolsAndBudgets) {
  const auto agent = [](const std::string& run, const std::string& rest) {
    return read(with("slate = \"demo\"\n" + run, rest)).config.agent.harness;
  };
  EXPECT_EQ(agent("", "[agent]\nharness = \"single_turn\"").max_turns, 1);
  EXPECT_EQ(agent("", "[agent]\nharness = \"repair\"").max_turns, 5);
  EXPECT_EQ(agent("tools = \"all\"", "").tools.size(), 9U);
  EXPECT_EQ(agent("tools = \"all\"", "").name, "all");
  EXPECT_THAT(agent("tools = \"run_correctness, compile_kernel\"", "").tools,
              ElementsAre("compile_kernel", "run_correctness", "submit_kernel"));
  EXPECT_EQ(agent("tools = [\"submit_kernel\"]", "[agent]\nmax_turns = 1").name, "single_turn");
}

TEST(Config, NvccIsUsedWhereItIsAskedFor) {
  EXPECT_FALSE(read(with("slate = \"demo\"", "")).config.run.nvcc);
  const SweepConfig config = read(with("slate = \"demo\"\ncompiler = \"nvcc\"", "")).config;
  EXPECT_TRUE(config.run.nvcc);
  EXPECT_THAT(canonical_json(config), HasSubstr("\"compiler\":\"nvcc\""));
}

// The program's options are listed by its help alone; a key must not advise one that is not there.
TEST(Config, NoIgnoredKeyAdvisesAnOption) {
  for (const Key& key : keys()) {
    EXPECT_THAT(std::string(key.instead), ::testing::Not(HasSubstr("--"))) << key.name;
  }
}

TEST(Config, PrecedenceOfReasoningEffortAndConcurrency) {
  const auto model = [](const std::string& rest) {
    return read(with("slate = \"demo\"", rest)).config.models[0];
  };
  EXPECT_EQ(model("[agent]\nreasoning_effort = \"low\"").reasoning_effort, "low");
  EXPECT_EQ(
      model("reasoning_effort = \"high\"\n[agent]\nreasoning_effort = \"low\"").reasoning_effort,
      "high");
  EXPECT_EQ(model("tpm = 100000").max_concurrency, 4);
  EXPECT_EQ(model("tpm = 1000").max_concurrency, 2);
  EXPECT_EQ(model("tpm = 1000\nmax_concurrency = 7").max_concurrency, 7);
  EXPECT_EQ(model("tpm = 1000").priority, 0);
  EXPECT_EQ(model("priority = -3").priority, -3);
}

TEST(Config, WarnsOnceForKeysThatMeanNothingHere) {
  const Loaded loaded =
      read(with("slate = \"demo\"\ntiming_method = \"cuda_event\"\ndataset_src = "
                "\"huggingface\"\ndynamic_eval_timeout = true",
                "[agent]\ndynamic_eval_timeout = true"));
  ASSERT_EQ(loaded.warnings.size(), 3U);
  std::string all;
  for (const Diagnostic& warning : loaded.warnings) {
    all += warning.text() + "\n";
  }
  EXPECT_THAT(all, HasSubstr("x.toml:4:1: timing_method has no meaning here; paired blocks"));
  EXPECT_THAT(all, HasSubstr("dataset_src has no meaning here; the built-in catalogue is used"));
  EXPECT_THAT(all, HasSubstr("dynamic_eval_timeout has no effect in [run]; it belongs in [agent]"));
}

TEST(Config, ReadsASlateFileRelativeToTheRoot) {
  const util::TempDir dir;
  std::filesystem::create_directories(dir.path() / "configs");
  std::filesystem::create_directories(dir.path() / "s");
  std::ofstream(dir.path() / "s" / "mine.toml")
      << "[slate]\nversion = 2\n[slate.levels]\n1 = [2, 3]\n3 = [5]\n";
  std::ofstream(dir.path() / "configs" / "x.toml") << with("slate = \"s/mine.toml\"");
  const SweepConfig c = load(dir.path() / "configs" / "x.toml").config;
  EXPECT_EQ(c.root, dir.path());
  EXPECT_THAT(c.run.selection.variants, ElementsAre("mine"));
  EXPECT_EQ(expand(c, catalogue()).items.size(), 3U);
}

TEST(Config, KeyReferenceNamesEveryTable) {
  const std::string text = key_reference();
  for (const char* part : {"[run]",
                           "[agent]",
                           "[parallelism]",
                           "[report]",
                           "[[models]]",
                           "[models.sampling]",
                           "[models.price]",
                           "  max_turns: a whole number; default 10"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Config, AMissingFileIsAUsageError) {
  EXPECT_THROW(static_cast<void>(load("/nonexistent/x.toml")), util::UsageError);
}

TEST(Config, HostileTextEndsInAnErrorOrAConfiguration) {
  const std::string base = std::string(kMinimal) +
                           "[models.sampling]\ntemperature = 1.0\n[agent]\nmax_turns = "
                           "3\n[run.problem_subset_by_level]\n1 = [3]\n";
  std::mt19937 random(5);
  const auto known = catalogue();
  for (int i = 0; i < 3000; ++i) {
    std::string text = base;
    for (int edits = 0; edits < 1 + i % 3; ++edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 9));
      }
    }
    try {
      static_cast<void>(expand(read(text).config, known));
    } catch (const util::UsageError&) {
    }
  }
  EXPECT_THROW(static_cast<void>(read("a = " + std::string(100000, '['))), util::UsageError);
  EXPECT_THROW(static_cast<void>(read(std::string(2 << 20, '#'))), util::UsageError);
}

}  // namespace
}  // namespace sweep::config
