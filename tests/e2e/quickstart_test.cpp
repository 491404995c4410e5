// `sweep quickstart` as a user meets it, on the cpu device with the built-in model, with scripts of
// its own, and where things are missing.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace sweep::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kLabels = {"device",
                                          "compiler",
                                          "problems, seeds",
                                          "catalogue",
                                          "sandbox",
                                          "problem",
                                          "output",
                                          "key",
                                          "endpoint",
                                          "model",
                                          "answer",
                                          "stream"};

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "device" -> "OK   device: ...", of the lines that begin with a mark.
std::map<std::string, std::string> lines_of(const std::string& out) {
  std::map<std::string, std::string> found;
  std::istringstream text(out);
  for (std::string line; std::getline(text, line);) {
    const bool marked = line.starts_with("OK   ") || line.starts_with("FAIL ");
    const std::size_t colon = line.find(": ");
    if (marked && colon != std::string::npos) {
      found[line.substr(5, colon - 5)] = line;
    }
  }
  return found;
}

class Quickstart : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome quickstart(std::vector<std::string> arguments,
                                   const std::vector<std::string>& env = {}) const {
    arguments.insert(arguments.begin(), "quickstart");
    return here_.sweep(arguments, env);
  }

  // Whether --check with these arguments says FAIL to `label` and otherwise what it says.
  void expect_fail(const std::string& label,
                   const std::string& words,
                   const std::vector<std::string>& arguments,
                   const std::vector<std::string>& env = {}) const {
    const Outcome outcome = quickstart(arguments, env);
    EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
    EXPECT_TRUE(lines_of(outcome.out)[label].starts_with("FAIL")) << label << "\n" << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr(words));
    EXPECT_THAT(outcome.out, HasSubstr(" checks failed\n"));
  }

  [[nodiscard]] nlohmann::json result(const std::string& run) const {
    return nlohmann::json::parse(content(here_.folder() / run / "quickstart-result.json"));
  }

  // --run against a server that plays `script` under the name `model`.
  [[nodiscard]] Outcome run_scripted(const std::string& script,
                                     const std::string& more = "") const {
    here_.write("scripts/m.toml", "model = \"m\"\n" + script + R"(
[[conversation]]
problem = "*"
[[conversation.turn]]
text = "ready"
calls = [{ tool = "report_word", arguments = '{"word":"x"}' }]
[[conversation.turn]]
text = "ready"
)");
    const std::string shell =
        "mkfifo end; \"$0\" __endpoint scripts < end > port & exec 3> end; "
        "while [ ! -s port ]; do sleep 0.05; done; "
        "\"$0\" quickstart --run --model m --base-url http://127.0.0.1:$(cat port)/v1 "
        "--api-kind openai_chat --device cpu --output q " +
        more + "; code=$?; exec 3>&-; exit $code";
    return here_.command({"/bin/sh", "-c", shell, Workspace::program()});
  }

  const Workspace here_;
};

TEST_F(Quickstart, ACheckSaysOkToEachThing) {
  const Outcome outcome = quickstart({"--device", "cpu"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const auto lines = lines_of(outcome.out);
  for (const std::string& label : kLabels) {
    ASSERT_TRUE(lines.contains(label)) << label << "\n" << outcome.out;
    EXPECT_TRUE(lines.at(label).starts_with("OK")) << lines.at(label);
  }
  EXPECT_THAT(outcome.out, HasSubstr("all checks passed\n"));
  EXPECT_FALSE(fs::exists(here_.folder() / "runs"));
  const nlohmann::json json = here_.sweep_json({"quickstart", "--device", "cpu"});
  EXPECT_EQ(json.at("ready"), true);
  EXPECT_EQ(json.at("checks").size(), lines.size());
  EXPECT_EQ(quickstart({"--device", "cpu", "--quiet"}).out, "");
}

TEST_F(Quickstart, ACheckSaysFailToWhatIsMissing) {
  const std::vector<std::string> far = {"--device", "cpu", "--model", "m", "--base-url"};
  const auto with = [&](const std::string& url, const std::vector<std::string>& more = {}) {
    std::vector<std::string> out = far;
    out.push_back(url);
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  expect_fail("device", "cuda:99: no such GPU", {"--device", "cuda:99"});
  expect_fail("compiler", "g++", {"--device", "cpu"}, {"PATH=/nonexistent"});
  expect_fail("output", "no folder", {"--device", "cpu", "--output", Workspace::program()});
  expect_fail("key",
              "export NO_KEY_HERE=",
              with("https://host.invalid/v1", {"--api-key-env", "NO_KEY_HERE"}));
  expect_fail("endpoint", "is the server running there?", with("http://127.0.0.1:1/v1"));
  expect_fail("model", "'m' is not among the 5 models", with("builtin:demo"));
  here_.write("p/ptx/gemm/problem.toml", "schema = 1\n");
  expect_fail("problem",
              "'id' is missing",
              {"--device", "cpu"},
              {"SWEEP_PROBLEMS=" + (here_.folder() / "p").string()});
}

TEST_F(Quickstart, ACheckNamesAProtectionThatIsMissing) {
  const Outcome outcome = here_.sweep_without({"landlock"}, {"quickstart", "--device", "cpu"});
  if (outcome.code == Workspace::kCannot) {
    GTEST_SKIP() << outcome.err;
  }
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("FAIL sandbox: "), HasSubstr("lsm=")));
}

TEST_F(Quickstart, WhatIsTypedWrongIsNamed) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--check", "--run"},
                                                    {"--report", "nowhere"},
                                                    {"--model", "m"},
                                                    {"--run", "--target", "0"},
                                                    {"--frob"},
                                                    {"--model", "m", "--base-url", "ftp://h"}}) {
    const Outcome outcome = quickstart(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("sweep"));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(Quickstart, ARunIsNotStartedWhereACheckFails) {
  const Outcome outcome = quickstart({"--run",
                                      "--device",
                                      "cpu",
                                      "--output",
                                      "q",
                                      "--model",
                                      "m",
                                      "--base-url",
                                      "http://127.0.0.1:1/v1",
                                      "--json"});
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("FAIL endpoint: "), HasSubstr("not started")));
  EXPECT_FALSE(fs::exists(here_.folder() / "q"));
}

// The ordinary road: the folder is a run that every other command takes.
TEST_F(Quickstart, ARunOfTheBuiltInModelEndsInAReport) {
  const Outcome run = quickstart({"--run", "--device", "cpu", "--output", "q"});
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("runner      finished     3 of 3 turns, stop reason: submitted\n"));
  EXPECT_THAT(run.out, HasSubstr("kernel      correct      "));
  EXPECT_THAT(run.out, HasSubstr("target      not judged   1.00x over the seed: "));
  EXPECT_THAT(run.out, HasSubstr("compile_kernel failed, run_correctness ok, submit_kernel ok\n"));
  const nlohmann::json body = result("q");
  EXPECT_EQ(body.at("runner").at("finished"), true);
  EXPECT_EQ(body.at("kernel").at("correct"), true);
  EXPECT_EQ(body.at("target").at("met"), nullptr);
  EXPECT_EQ(body.at("scripted"), true);
  for (const auto& [name, file] : body.at("files").items()) {
    EXPECT_TRUE(fs::exists(here_.folder() / "q" / file.get<std::string>())) << name;
  }
  EXPECT_EQ(here_.sweep({"verify", "q"}).code, 0);
  EXPECT_EQ(here_.rows("q", "request"), 3);

  // The same again asks nobody; --report says the same.
  const std::string table = run.out.substr(run.out.find("quickstart  "));
  const Outcome again = quickstart({"--run", "--device", "cpu", "--output", "q", "--quiet"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, table);
  EXPECT_EQ(here_.rows("q", "request"), 3);
  fs::remove_all(here_.folder() / "q/report");
  const Outcome report = quickstart({"--report", "q"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(report.out, table);
  EXPECT_EQ(here_.sweep({"q/quickstart.toml"}).code, 0);
  EXPECT_EQ(quickstart({"--report", "q", "--require", "correct"}).code, 0);
  const Outcome unmet = quickstart({"--report", "q", "--require", "target"});
  EXPECT_EQ(unmet.code, 1);
  EXPECT_THAT(unmet.err,
              HasSubstr("--require target does not hold: a target is not judged on the "
                        "cpu device"));
  EXPECT_EQ(quickstart({"--report", "q", "--target", "1.5", "--quiet"}).code, 0);
  EXPECT_EQ(here_.sweep_json({"quickstart", "--report", "q"}).at("target").at("least"), 1.5);

  // Another model does not go into the same folder.
  const Outcome other = quickstart({"--run",
                                    "--device",
                                    "cpu",
                                    "--output",
                                    "q",
                                    "--model",
                                    "demo-wrong",
                                    "--base-url",
                                    "builtin:demo"});
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.out, HasSubstr("begun with other options"));
  EXPECT_EQ(here_.rows("q", "request"), 3);

  // Somebody edits the result; one blank is enough.
  const std::string name = body.at("files").at("trajectory");
  std::string text = content(here_.folder() / "q" / name);
  here_.write("q/" + name, text.insert(1, " "));
  const Outcome damaged = quickstart({"--report", "q"});
  EXPECT_EQ(damaged.code, 3);
  EXPECT_THAT(damaged.out, HasSubstr("record      DAMAGED"));
  here_.write("q/" + name, "{");
  EXPECT_EQ(quickstart({"--report", "q"}).code, 3);
  fs::remove(here_.folder() / "q" / name);
  EXPECT_EQ(quickstart({"--report", "q"}).code, 3);
  here_.write("q/ledger.jsonl", "no ledger\nat all\n");
  EXPECT_EQ(quickstart({"--report", "q"}).code, 3);
}

// Killed before its end: the report says so, and the same command comes to the end.
TEST_F(Quickstart, ARunThatWasKilledGoesOn) {
  const std::string script =
      "\"$0\" quickstart --run --device cpu --output q > out 2> err & p=$!; "
      "while [ ! -s q/ledger.jsonl ]; do sleep 0.02; done; kill -9 $p; wait $p; exit 0";
  ASSERT_EQ(here_.command({"/bin/sh", "-c", script, Workspace::program()}).code, 0);
  const Outcome report = quickstart({"--report", "q"});
  EXPECT_EQ(report.code, 3) << report.out << report.err;
  EXPECT_THAT(report.out, AllOf(HasSubstr("runner      unfinished "), HasSubstr("next        ")));
  const Outcome run = quickstart({"--run", "--device", "cpu", "--output", "q"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(here_.rows("q", "item_end"), 1);
  EXPECT_EQ(here_.sweep({"verify", "q"}).code, 0);
}

// A model that hands in a wrong kernel: the runner finished all the same.
TEST_F(Quickstart, AWrongKernelIsNoFailureOfTheRunner) {
  here_.write("scripts/k.cu",
              "//@ problem ptx/gemm\n//@ gemm<<<1, 1>>>(a, b, c, m, n, k)\n"
              "#include <cuda_bf16.h>\n__global__ void gemm(const __nv_bfloat16*, const "
              "__nv_bfloat16*, __nv_bfloat16* c, int, int, int) { c[0] = __float2bfloat16(0); }\n");
  const Outcome run = run_scripted(R"([[conversation]]
problem = "ptx/gemm"
[[conversation.turn]]
calls = [{ tool = "submit_kernel", kernel = "k.cu" }]
)",
                                   "--json");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  const nlohmann::json body = nlohmann::json::parse(run.out);
  EXPECT_EQ(body.at("runner").at("finished"), true);
  EXPECT_EQ(body.at("kernel").at("submitted"), true);
  EXPECT_EQ(body.at("kernel").at("correct"), false);
  EXPECT_EQ(body.at("target").at("met"), false);
  EXPECT_EQ(body, result("q"));
  const Outcome report = quickstart({"--report", "q", "--require", "correct"});
  EXPECT_EQ(report.code, 1);
  EXPECT_THAT(report.out, HasSubstr("kernel      NOT CORRECT  INCORRECT_"));
}

// Nothing is handed in, then the endpoint has no more to say.
TEST_F(Quickstart, AnEndpointThatStopsIsAFailureOfTheRunner) {
  const Outcome run = run_scripted(R"([[conversation]]
problem = "ptx/gemm"
[[conversation.turn]]
text = "I think about it."
)");
  EXPECT_EQ(run.code, 3) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("runner      failed "));
  EXPECT_THAT(run.out, HasSubstr("kernel      none "));
  EXPECT_THAT(run.out, HasSubstr("next        sweep "));
  EXPECT_EQ(result("q").at("runner").at("finished"), false);
}

TEST_F(Quickstart, TheRunOfSomethingElseIsRefused) {
  here_.write("s.toml", R"([run]
name = "r"
problems = ["level1/3"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1
[report]
serve = false
[[models]]
name = "demo-hardcoder"
api_kind = "openai_chat"
base_url = "builtin:demo"
)");
  ASSERT_EQ(here_.sweep({"s.toml"}).code, 0);
  const Outcome report = quickstart({"--report", "runs/r"});
  EXPECT_EQ(report.code, 2);
  EXPECT_THAT(report.err, HasSubstr("is a run of 1 item: level1/3, no quickstart"));
  EXPECT_FALSE(fs::exists(here_.folder() / "runs/r/quickstart-result.json"));
  expect_fail("output", "holds another run", {"--device", "cpu", "--output", "runs/r"});
  EXPECT_THAT(quickstart({"--report", "."}).err, HasSubstr("holds no run"));
}

}  // namespace
}  // namespace sweep::e2e
