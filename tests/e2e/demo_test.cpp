// The demo as a user meets it: four scripted models through real HTTP and the real judge.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The shipped file on one problem, with a port of its own.
std::string demo(const std::string& problems = "\"level1/3\"") {
  std::string toml = text_of(std::filesystem::path(SWEEP_SOURCE_DIR) / "configs/demo.toml");
  const std::string all = "\"level1/3\", \"sci/heat2d\"";
  const std::size_t at = toml.find(all);
  EXPECT_NE(at, std::string::npos);
  return toml.replace(at, all.size(), problems) + "\n[report]\nserve_port = 18865\n";
}

bool has_control_codes(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
  });
}

// Problem, model, outcome and verdict of each row; the numbers of a machine left out.
std::string outcomes(const std::string& out) {
  std::string table;
  const std::regex row(R"(^(\S+/\S+)\s+(demo-\S+)\s+(\S+)\s+(\S+))");
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_search(line, found, row)) {
      // What a cpu says about a time depends on what else it does; of a wrong kernel it does not.
      table += found[1].str() + " " + found[2].str() + " " + found[3].str() +
               (found[3] == "correct" ? "" : " " + found[4].str()) + "\n";
    }
  }
  return table;
}

constexpr const char* kTable =
    "level1/3 demo-fixer correct\n"
    "level1/3 demo-wrong correct\n"
    "level1/3 demo-hardcoder incorrect INCORRECT_GENERALISATION\n"
    "level1/3 demo-flaky correct\n";

// Each trajectory says what was launched and what made it.
void expect_provenance(const std::filesystem::path& run) {
  int seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
    if (!entry.path().string().ends_with("_trajectory.json")) {
      continue;
    }
    ++seen;
    const auto body = nlohmann::json::parse(text_of(entry.path()));
    const auto& result = body.at("final_result");
    EXPECT_FALSE(result.at("plan").at("shapes").empty()) << entry.path();
    EXPECT_EQ(result.at("plan_sha256"), result.at("evaluation").at("plan_sha256"));
    EXPECT_EQ(result.at("plan_sha256").get<std::string>().size(), 64U);
    EXPECT_THAT(body.at("provenance").at("compiler").get<std::string>(), HasSubstr("g++"));
    EXPECT_TRUE(body.at("provenance").at("git_commit").is_string());
    if (std::filesystem::exists(std::filesystem::path(SWEEP_SOURCE_DIR) / ".git")) {
      EXPECT_GE(body["provenance"]["git_commit"].get<std::string>().size(), 40U);
    }
  }
  EXPECT_EQ(seen, 4);
}

TEST(Demo, EndsAsItsScriptsSayAndASecondRunDoesNothing) {
  const Workspace here;
  here.write("demo.toml", demo());
  const Outcome first = here.sweep({"demo.toml"});
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_EQ(outcomes(first.out), kTable) << first.out;
  EXPECT_THAT(first.err, HasSubstr("report: http://127.0.0.1:"));
  EXPECT_FALSE(has_control_codes(first.out)) << first.out;
  EXPECT_FALSE(has_control_codes(first.err)) << first.err;
  EXPECT_TRUE(std::filesystem::exists(here.folder() / "runs/demo/report/index.html"));
  expect_provenance(here.folder() / "runs/demo");
  const std::string before = text_of(here.folder() / "runs/demo/ledger.jsonl");
  const int asked = here.rows("runs/demo", "request");
  const int tools = here.rows("runs/demo", "tool");

  const Outcome second = here.sweep({"demo.toml"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.out, "nothing to do: every item is finished\n" + first.out);
  EXPECT_EQ(here.rows("runs/demo", "request"), asked);
  EXPECT_EQ(here.rows("runs/demo", "tool"), tools);
  EXPECT_EQ(text_of(here.folder() / "runs/demo/ledger.jsonl"), before);

  // No item is an error: nothing to begin anew either, and what was published stays byte for byte.
  const std::filesystem::path index = here.folder() / "runs/demo/report/index.html";
  const auto made = std::filesystem::last_write_time(index);
  const Outcome third = here.sweep({"demo.toml", "--retry", "errors"});
  EXPECT_EQ(third.code, 0) << third.err;
  EXPECT_EQ(third.out, second.out);
  EXPECT_EQ(text_of(here.folder() / "runs/demo/ledger.jsonl"), before);
  EXPECT_EQ(std::filesystem::last_write_time(index), made);
  // A page that is gone is made again, without a row.
  std::filesystem::remove(index);
  EXPECT_EQ(here.sweep({"demo.toml"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(index));
  EXPECT_EQ(text_of(here.folder() / "runs/demo/ledger.jsonl"), before);
  // What decides results has changed: said as ever, though nothing is left to do.
  here.write("demo.toml", demo() + "[models.sampling]\ntemperature = 0.5\n");
  const Outcome drifted = here.sweep({"demo.toml"});
  EXPECT_EQ(drifted.code, 2) << drifted.out << drifted.err;
  EXPECT_EQ(text_of(here.folder() / "runs/demo/ledger.jsonl"), before);
  EXPECT_EQ(here.sweep({"verify", "demo"}).code, 0);
}

TEST(Demo, ADryRunSaysThatNothingIsCharged) {
  const Workspace here;
  here.write("demo.toml", demo());
  const Outcome outcome = here.sweep({"demo.toml", "--dry-run"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("at example prices: scripted, nothing is charged"));
  EXPECT_EQ(outcome.err, "");
}

// A start would be refused for either: said, and the exit code is the start's own.
TEST(Demo, ADryRunWarnsOfAKeyAndADeviceThatAreNotThere) {
  const Workspace here;
  here.write("far.toml",
             "[run]\nname = \"far\"\nproblems = [\"level1/3\"]\ndevice = \"cuda:7\"\n"
             "[[models]]\nname = \"m\"\nbase_url = \"https://host.invalid/v1\"\n"
             "api_key_env = \"SWEEP_TEST_NO_SUCH_KEY\"\n");
  const Outcome outcome = here.sweep({"far.toml", "--dry-run"});
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("1 item, 0 of them can run; 1 lacks a key (SWEEP_TEST_NO_SUCH_KEY) or the "
                        "device cuda:7\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("at https://host.invalid/v1, key in SWEEP_TEST_NO_SUCH_KEY (not set)\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("endpoint profile")));
  EXPECT_THAT(outcome.err, HasSubstr("warning: models.m: key variable SWEEP_TEST_NO_SUCH_KEY"));
  EXPECT_THAT(outcome.err, HasSubstr("warning: device cuda:7: "));
  const nlohmann::json json = here.sweep_json({"far.toml", "--dry-run"});
  EXPECT_EQ(json.at("lacking").size(), 2U);
  EXPECT_EQ(json.at("lacking_items"), 1);
  EXPECT_EQ(json.at("models").at(0).at("key_set"), false);
  EXPECT_FALSE(std::filesystem::exists(here.folder() / "runs"));
}

// Killed three times wherever it happens to be, and gone on with: a kill costs each worker one
// request at most, and the table is the one of an undisturbed run.
TEST(Demo, KilledInTheMiddleItGoesOnToTheSameTable) {
  const Workspace here;
  here.write("demo.toml", demo());
  const std::string script =
      "\"$0\" demo.toml > out 2> err & p=$!; sleep $1; kill -9 $p; wait $p; exit 0";
  for (const char* seconds : {"0.7", "1.5", "2.5"}) {
    const Outcome killed = here.command({"/bin/sh", "-c", script, Workspace::program(), seconds});
    EXPECT_EQ(killed.code, 0) << killed.err;
    if (std::filesystem::exists(here.folder() / "runs/demo/ledger.jsonl")) {
      const Outcome intact = here.sweep({"verify", "demo"});
      EXPECT_EQ(intact.code, 0) << intact.out << intact.err;
    }
  }
  const Outcome last = here.sweep({"demo.toml"});
  EXPECT_EQ(last.code, 0) << last.out << last.err;
  EXPECT_EQ(outcomes(last.out), kTable) << last.out;
  // Three, two, two and one requests a model; a kill may cost each of four workers one more.
  EXPECT_GE(here.rows("runs/demo", "request"), 8);
  EXPECT_LE(here.rows("runs/demo", "request"), 8 + 3 * 4);
  EXPECT_EQ(here.rows("runs/demo", "item_end"), 4);
  EXPECT_EQ(here.sweep({"verify", "demo"}).code, 0);
}

}  // namespace
}  // namespace sweep::e2e
