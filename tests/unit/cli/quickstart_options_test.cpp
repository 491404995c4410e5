#include "cli/quickstart.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Mode = QuickstartOptions::Mode;

constexpr double kWall = 1769860800;  // 2026-01-31T12:00:00Z

QuickstartOptions quickstart_of(const std::vector<std::string>& arguments) {
  return parse_quickstart(arguments, kWall);
}

// "CODE: message" of a refused command line.
std::string quickstart_refusal(const std::vector<std::string>& arguments) {
  try {
    QuickstartOptions options = quickstart_of(arguments);
    options.device = "cpu";
    (void)quickstart_config(options);
  } catch (const util::UsageError& error) {
    return error.code() + ": " + error.what();
  }
  return "taken";
}

TEST(QuickstartOptions, WithoutAnyTheBuiltInModelIsChecked) {
  const QuickstartOptions options = quickstart_of({});
  EXPECT_EQ(options.mode, Mode::check);
  EXPECT_EQ(options.model, "demo-fixer");
  EXPECT_EQ(options.base_url, "builtin:demo");
  EXPECT_EQ(options.device, "");
  EXPECT_FALSE(options.target);
  EXPECT_EQ(options.output, fs::current_path() / "runs/quickstart-20260131-120000");
}

TEST(QuickstartOptions, EachIsRead) {
  const QuickstartOptions options = quickstart_of({"--run",
                                                   "--model",
                                                   "m",
                                                   "--base-url",
                                                   "http://127.0.0.1:8000/v1",
                                                   "--api-kind",
                                                   "openai",
                                                   "--api-key-env",
                                                   "KEY",
                                                   "--device",
                                                   "cuda",
                                                   "--output",
                                                   "/tmp/x/q1/",
                                                   "--target",
                                                   "1.5",
                                                   "--require",
                                                   "target"});
  EXPECT_EQ(options.mode, Mode::run);
  EXPECT_EQ(options.model, "m");
  EXPECT_EQ(options.api_kind, "openai");
  EXPECT_EQ(options.api_key_env, "KEY");
  EXPECT_EQ(options.device, "cuda:0");
  EXPECT_EQ(options.output, "/tmp/x/q1");
  EXPECT_EQ(options.target, 1.5);
  EXPECT_EQ(options.require, "target");
  EXPECT_EQ(quickstart_of({"--report", "runs/q"}).output, fs::current_path() / "runs/q");
  EXPECT_EQ(quickstart_of({"--report", "runs/q", "--target", "2"}).target, 2);
}

TEST(QuickstartOptions, WhatCannotBeMeantIsNamed) {
  const std::string code = "E_QUICKSTART_OPTION";
  EXPECT_THAT(quickstart_refusal({"--check", "--run"}), HasSubstr(code + ": sweep quickstart: "));
  EXPECT_THAT(quickstart_refusal({"--run", "--report", "q"}), HasSubstr("exclude each other"));
  EXPECT_THAT(quickstart_refusal({"--report", "q", "--device", "cpu"}), HasSubstr("--device says"));
  EXPECT_THAT(quickstart_refusal({"--target", "2"}), HasSubstr("--target is of --run"));
  EXPECT_THAT(quickstart_refusal({"--check", "--require", "correct"}),
              HasSubstr("--require is of"));
  EXPECT_THAT(quickstart_refusal({"--model", "m"}), HasSubstr("--model needs --base-url"));
  EXPECT_THAT(quickstart_refusal({"--base-url", "http://h"}),
              HasSubstr("--base-url needs --model"));
  EXPECT_THAT(quickstart_refusal({"--api-key-env", "K"}), HasSubstr("--api-key-env needs --model"));
  for (const char* output : {"/", "a/.b", "a/b c", "x/%41"}) {
    EXPECT_THAT(quickstart_refusal({"--output", output}), HasSubstr("cannot be a run's folder"))
        << output;
  }
  EXPECT_THAT(quickstart_refusal({"--report"}), HasSubstr("E_CLI_USAGE"));
  EXPECT_THAT(quickstart_refusal({"--require", "fast"}), HasSubstr("E_CLI_USAGE"));
  for (const char* target : {"0", "-1", "1e9", "1x"}) {
    EXPECT_THAT(quickstart_refusal({"--run", "--target", target}), HasSubstr("E_CLI_USAGE"))
        << target;
  }
  EXPECT_THAT(quickstart_refusal({"--run", "--target", "nan"}),
              HasSubstr("--target: 'nan' is not a finite number"));
  EXPECT_THAT(quickstart_refusal({"--device", "tpu"}), HasSubstr("E_DEVICE_NAME"));
}

// The configuration's own rules, said of options: no file is named that nobody wrote.
TEST(QuickstartOptions, MistakesOfTheConfigurationAreSaidOfOptions) {
  const auto model = [](const std::string& name, const std::string& url) {
    return quickstart_refusal({"--model", name, "--base-url", url});
  };
  for (const std::string& refusal : {model("m", "ftp://h"), model("m", "https://h.example/v1")}) {
    EXPECT_THAT(refusal, HasSubstr("E_QUICKSTART_OPTION: sweep quickstart: "));
    EXPECT_THAT(refusal, ::testing::Not(HasSubstr("quickstart.toml")));
  }
  EXPECT_THAT(model("m", "ftp://h"), HasSubstr("--base-url is no http(s) address"));
  EXPECT_THAT(model("m", "https://h.example/v1"), HasSubstr("add  --api-key-env"));
  EXPECT_THAT(model("a\nb", "http://127.0.0.1:1"), HasSubstr("--model holds bytes"));
  EXPECT_THAT(model("\xff", "http://127.0.0.1:1"), HasSubstr("--model holds bytes"));
}

TEST(QuickstartOptions, BecomeASweepOfOneItem) {
  QuickstartOptions options = quickstart_of({"--run",
                                             "--model",
                                             "org/\"m\"\\",
                                             "--base-url",
                                             "http://127.0.0.1:8000/v1",
                                             "--output",
                                             "/tmp/x/q1"});
  options.device = "cpu";
  const config::SweepConfig config = quickstart_config(options);
  EXPECT_EQ(config.run.name, "q1");
  EXPECT_EQ(config.run.runs_dir, "/tmp/x");
  EXPECT_EQ(config.run.device, "cpu");
  EXPECT_EQ(config.run.selection.problems, std::vector<std::string>{"ptx/gemm"});
  EXPECT_EQ(config.agent.harness.max_turns, 3);
  EXPECT_FALSE(config.report.serve);
  ASSERT_EQ(config.models.size(), 1U);
  EXPECT_EQ(config.models[0].name, "org/\"m\"\\");
  EXPECT_EQ(config.models[0].api_kind, config::ApiKind::responses);
  EXPECT_EQ(config.models[0].api_key_env, "");
}

class QuickstartFolder : public ::testing::Test {
 protected:
  [[nodiscard]] QuickstartCheck check(const std::string& name) const {
    return check_quickstart_folder(folder_.path() / name, "toml");
  }

  void write(const std::string& name, const std::string& text) const {
    util::make_folders((folder_.path() / name).parent_path());
    util::write_file_atomic(folder_.path() / name, text);
  }

  util::TempDir folder_;
};

TEST_F(QuickstartFolder, IsNewEmptyOrTheSameQuickstart) {
  EXPECT_TRUE(check("a/b/new").ok);
  EXPECT_FALSE(fs::exists(folder_.path() / "a"));
  util::make_folders(folder_.path() / "empty");
  EXPECT_TRUE(check("empty").ok);
  EXPECT_TRUE(fs::is_empty(folder_.path() / "empty"));
  write("same/quickstart.toml", "toml");
  write("same/ledger.jsonl", "");
  EXPECT_TRUE(check("same").ok);
}

TEST_F(QuickstartFolder, KeepsWhatIsThere) {
  write("other/quickstart.toml", "other");
  EXPECT_THAT(check("other").detail, HasSubstr("begun with other options"));
  write("run/ledger.jsonl", "");
  EXPECT_THAT(check("run").detail, HasSubstr("holds another run"));
  write("full/notes.txt", "");
  EXPECT_THAT(check("full").detail, HasSubstr("is not empty"));
  EXPECT_THAT(check("full/notes.txt").detail, HasSubstr("is no folder"));
  for (const char* name : {"other", "run", "full", "full/notes.txt"}) {
    EXPECT_FALSE(check(name).ok);
    EXPECT_THAT(check(name).next, HasSubstr("--output")) << name;
  }
}

// Nobody makes folders there, root included.
TEST(QuickstartFolderAnywhere, MustBeWritable) {
  const QuickstartCheck line = check_quickstart_folder("/proc/sweep/q", "toml");
  EXPECT_FALSE(line.ok);
  EXPECT_THAT(line.detail, HasSubstr("/proc"));
  EXPECT_THAT(line.next, HasSubstr("--output"));
}

TEST(QuickstartChecks, AreLinesThatSayOkOrFail) {
  const std::vector<QuickstartCheck> checks = {{"device", true, "cpu: x", "note"},
                                               {"key", false, "K is \x1b not set", "export K"}};
  EXPECT_EQ(quickstart_check_text(checks, Style::plain(), 0),
            "OK   device: cpu: x\n         note\n"
            "FAIL key: K is \\x1b not set\n         export K\n");
  EXPECT_EQ(to_json(checks)[1]["ok"], false);
}

}  // namespace
}  // namespace sweep::cli
