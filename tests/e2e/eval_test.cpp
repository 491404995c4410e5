// The options of `sweep eval` for daily work: --require, --scan, --watch.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A workspace with mine.cu, the starter of level1/3: right, with one constant, ROWS.
class EvalFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const Outcome starter = here_.sweep({"new", "level1/3"});
    ASSERT_EQ(starter.code, 0) << starter.err;
    good_ = starter.out;
    here_.write("mine.cu", good_);
  }

  [[nodiscard]] Outcome eval(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"eval", "mine.cu", "--device", "cpu"});
    return here_.sweep(arguments);
  }

  // The starter with its sum spoilt.
  [[nodiscard]] std::string wrong() const {
    std::string text = good_;
    const std::size_t at = text.find("float sum = 0");
    EXPECT_NE(at, std::string::npos) << text;
    return text.replace(at, 13, "float sum = 1");
  }

  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(here_.folder() / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  Workspace here_;
  std::string good_;
};

TEST_F(EvalFile, BadOptionsAreOneLineAndCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--require", "fastr"}, "column 1: unknown word 'fastr'; did you mean 'faster'?"},
      {{"--require", "speedup>=x"}, "--require 'speedup>=x': column 10: a number must stand here"},
      {{"--require", "faster", "--only", "check"}, "--only check does not time the kernel"},
      {{"--require", "correct", "--only", "compile"}, "--only compile does not run the kernel"},
      {{"-D", "ROWS=x"}, "-D: 'ROWS=x' is not NAME=INTEGER; write e.g. -D TILE=64"},
      {{"--scan", "ROWS"}, "--scan 'ROWS': not NAME=VALUE,VALUE"},
      {{"--scan", "ROWS=4,x"}, "'x' is neither an integer nor a range"},
      {{"--scan", "ROWS=4,4"}, "4 is there twice"},
      {{"--scan", "ROWS=1..1000"}, "more than 256 values"},
      {{"--scan", "ROW=4"}, "no const 'ROW' for --scan to set; did you mean 'ROWS'?"},
      {{"--scan", "ROWS=4", "-D", "ROWS=8"}, "--scan with -D: both set 'ROWS'"},
      {{"--scan", "ROWS=4", "--only", "check"}, "a scan compares times"},
      {{"--scan", "ROWS=4", "--watch"}, "--watch with --scan"},
      {{"--watch", "--dump", "d"}, "--watch with --dump"},
      {{"--seed", "-3"}, "--seed: -3: give a whole number from 0"},
      {{"--seed", "18446744073709551616"}, "give a whole number from 0"},
      {{"--watch", "--shape", "rows=x"}, "'rows=x' is not NAME=INTEGER"},
  };
  for (const auto& [arguments, words] : cases) {
    const Outcome outcome = eval(arguments);
    EXPECT_EQ(outcome.code, 2) << words << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_TRUE(outcome.err.starts_with("sweep")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  }
}

TEST_F(EvalFile, ARequirementThatIsMetExitsWithZero) {
  const Outcome met = eval({"--only", "check", "--require", "correct"});
  EXPECT_EQ(met.code, 0) << met.out << met.err;
  EXPECT_THAT(met.out, HasSubstr(" required correct: met; found PASS_INCONCLUSIVE\n"));
}

// The cpu device never says FASTER, so that this holds however fast the machine is.
TEST_F(EvalFile, ACorrectKernelThatIsLessThanRequiredExitsWithFour) {
  const Outcome slow = eval({"--fast", "--require", "correct", "--require", "faster"});
  EXPECT_EQ(slow.code, 4) << slow.out << slow.err;
  EXPECT_THAT(slow.out, HasSubstr(" required correct: met; found "));
  EXPECT_THAT(slow.out, HasSubstr(" required faster: not met; found "));
}

TEST_F(EvalFile, AWrongKernelExitsWithOneWhateverIsRequired) {
  here_.write("mine.cu", wrong());
  const Outcome outcome = eval({"--only", "check", "--require", "correct", "--json"});
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.contains("requirements")) << outcome.out;
  EXPECT_EQ(
      json["requirements"],
      (nlohmann::json{{{"requirement", "correct"}, {"met", false}, {"found", "INCORRECT_VALUE"}}}));
}

TEST_F(EvalFile, AStoredResultIsComputedAgainFromItsSamples) {
  const Outcome made = eval({"--only", "time", "--fast", "--shape", "rows=64", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  here_.write("result.json", made.out);
  const Outcome intact = here_.sweep({"verify", "result.json"});
  EXPECT_EQ(intact.code, 0) << intact.out << intact.err;
  EXPECT_THAT(intact.out, HasSubstr("1 timed session of "));
  nlohmann::json body = nlohmann::json::parse(made.out);
  nlohmann::json& seconds = body["stages"]["time"]["samples"]["rows"][2][5];
  seconds = seconds.get<double>() * 2;
  here_.write("altered.json", body.dump());
  const Outcome altered = here_.sweep({"verify", "altered.json"});
  EXPECT_EQ(altered.code, 3) << altered.out;
  EXPECT_THAT(altered.out, HasSubstr("broken time."));
  EXPECT_THAT(altered.out, HasSubstr("NOT intact"));
  EXPECT_EQ(here_.sweep_json({"verify", "result.json"}).at("intact"), true);
  // Judged by other rules: their guards are no finding, nor intact.
  nlohmann::json old = nlohmann::json::parse(made.out);
  old["rules"] = 1;
  here_.write("old.json", old.dump());
  EXPECT_EQ(here_.sweep({"verify", "old.json"}).code, 0) << "both rules give the same";
  old["stages"]["time"]["guards"]["drift"]["low"] = 0.001;
  old["stages"]["time"]["drift"] = 0.001;
  here_.write("old.json", old.dump());
  const Outcome otherwise = here_.sweep({"verify", "old.json"});
  EXPECT_EQ(otherwise.code, 5) << otherwise.out;
  EXPECT_THAT(otherwise.out, HasSubstr("judged by rules 1, this program has rules 2"));
  EXPECT_THAT(otherwise.out, HasSubstr("time.guards.drift.low is 0.001, today's rules give 0"));
  EXPECT_THAT(otherwise.out, HasSubstr("other rules: nothing differs but what"));
  const Outcome as_json = here_.sweep({"verify", "old.json", "--json"});
  EXPECT_EQ(as_json.code, 5);
  const nlohmann::json said = nlohmann::json::parse(as_json.out, nullptr, false);
  EXPECT_EQ(said.at("intact"), true);
  EXPECT_EQ(said.at("rules").at("results_by_other"), (nlohmann::json{{"1", 1}}));
  EXPECT_FALSE(said.at("rules").at("otherwise").empty());
  for (const char* text : {"{}", "no json", "{\"schema\":1}"}) {
    here_.write("other.json", text);
    const Outcome other = here_.sweep({"verify", "other.json"});
    EXPECT_EQ(other.code, 2) << text << other.out;
    EXPECT_THAT(other.err, HasSubstr("is no result of one evaluation")) << text;
  }
  EXPECT_EQ(here_.sweep({"verify", "result.json", "--salt", "s"}).code, 2);
}

TEST_F(EvalFile, AScanMarksFailuresAndJudgesTheFastestAgain) {
  const Outcome outcome = eval({"--fast", "--scan", "ROWS=4,64,8", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.contains("scan")) << outcome.out << outcome.err;
  const nlohmann::json& scan = json["scan"];
  ASSERT_EQ(scan["variants"].size(), 3U);
  // 64 rows are 2048 threads a block: refused, and last.
  EXPECT_EQ(scan["variants"][2]["values"], (nlohmann::json{{"ROWS", 64}}));
  EXPECT_EQ(scan["variants"][2]["evaluation"]["verdict"], "PLAN_ERROR");
  EXPECT_EQ(scan["winner"], scan["variants"][0]["values"]);
  EXPECT_EQ(scan["in_file"], (nlohmann::json{{"ROWS", 4}}));
  EXPECT_EQ(scan["confirmation"]["outcome"], "correct");
  // The same text with other draws.
  EXPECT_EQ(scan["confirmation"]["seed"], 2);
  EXPECT_EQ(scan["variants"][0]["evaluation"]["seed"], 1);
}

TEST_F(EvalFile, AScanPrintsATableAndWhatItIsWorth) {
  const Outcome outcome = eval({"--fast", "--scan", "ROWS=4,8", "--require", "correct"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 of 2 variants judged, each timed against the seed"));
  EXPECT_THAT(outcome.out, HasSubstr("as in the file"));
  EXPECT_THAT(outcome.out, HasSubstr("selection effect"));
  EXPECT_THAT(outcome.out, HasSubstr(" again\n"));
  EXPECT_THAT(outcome.out, HasSubstr("required correct: met"));
  EXPECT_THAT(outcome.err, HasSubstr("ROWS=8: "));
}

TEST_F(EvalFile, AScanWithoutACorrectVariantExitsWithOne) {
  here_.write("mine.cu", wrong());
  const Outcome outcome = eval({"--fast", "--scan", "ROWS=4,8"});
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("no variant is correct and timed"));
  EXPECT_THAT(outcome.out, HasSubstr("INCORRECT_VALUE"));
}

// Shell functions: `seen WORDS N` waits until the output has N lines with the words.
constexpr const char* kWatchScript = R"sh(
: > out; : > err
"$0" eval mine.cu --device cpu --only check --watch $FLAGS > out 2> err & p=$!
seen() {
  i=0
  while [ "$(grep -c -- "$1" out)" -lt "$2" ]; do
    i=$((i + 1)); [ $i -lt 1500 ] || { kill -9 $p; cat out err; exit 9; }
    sleep 0.1
  done
}
)sh";

TEST_F(EvalFile, WatchingFollowsRenamesAndRemovalsUntilCtrlC) {
  here_.write("wrong.cu", wrong());
  const std::string script = std::string(kWatchScript) + R"sh(
seen '^---- 1 ' 1
cp mine.cu good.cu; mv wrong.cu mine.cu
seen '^ change ' 1
rm mine.cu; sleep 1.5; cp good.cu mine.cu
seen '^ change ' 2
kill -INT $p; wait $p; exit $?
)sh";
  const Outcome outcome = here_.command({"/bin/sh", "-c", script, Workspace::program()});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const std::string out = text_of("out");
  EXPECT_THAT(out, HasSubstr(" change  PASS_INCONCLUSIVE -> INCORRECT_VALUE\n"));
  EXPECT_THAT(out, HasSubstr(" change  INCORRECT_VALUE -> PASS_INCONCLUSIVE\n"));
  EXPECT_THAT(out, HasSubstr("\n---- 3 "));
  EXPECT_THAT(out, Not(HasSubstr("\n---- 4 ")));
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(text_of("err"), "");
}

TEST_F(EvalFile, WatchingInJsonPrintsALineForEachSave) {
  const std::string script =
      "FLAGS='--json --require correct'\n" + std::string(kWatchScript) + R"sh(
seen '"watch"' 1
printf '\n' >> mine.cu
seen '"watch"' 2
kill -INT $p; wait $p; exit $?
)sh";
  const Outcome outcome = here_.command({"/bin/sh", "-c", script, Workspace::program()});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  std::istringstream lines(text_of("out"));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    EXPECT_EQ(json["watch"]["evaluation"], ++number);
    EXPECT_EQ(json["outcome"], "correct");
    EXPECT_EQ(json["requirements"][0]["met"], true);
  }
  EXPECT_EQ(number, 2);
}

// A save whose evaluation cannot even begin: said, and the next one is judged.
TEST_F(EvalFile, WatchingOutlivesAFileThatNamesNoProblem) {
  const std::string script = std::string(kWatchScript) + R"sh(
seen '^---- 1 ' 1
cp mine.cu good.cu; grep -v problem good.cu > mine.cu
i=0; while ! grep -q 'names no problem' err; do
  i=$((i + 1)); [ $i -lt 600 ] || { kill -9 $p; cat out err; exit 9; }
  sleep 0.1
done
cp good.cu mine.cu
seen '^---- 2 ' 1
kill -INT $p; wait $p; exit $?
)sh";
  const Outcome outcome = here_.command({"/bin/sh", "-c", script, Workspace::program()});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(text_of("err"), HasSubstr("[E_EVALUATE_PROBLEM]"));
}

TEST_F(EvalFile, WatchingAFileThatIsNotThereIsAMistake) {
  const Outcome outcome = here_.sweep({"eval", "nothing.cu", "--device", "cpu", "--watch"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("nothing.cu: no such file"));
}

}  // namespace
}  // namespace sweep::e2e
