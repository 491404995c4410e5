#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace sweep::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string config(const std::string& of_second) {
  return R"([run]
name = "r"
problems = ["level1/3"]
device = "cpu"
attempts_per_problem = 2
num_correct_trials = 1
submit_num_correct_trials = 1
[parallelism]
agents_per_gpu = 1
[report]
serve = false
[[models]]
name = "first"
deployment_name = "demo-fixer"
api_kind = "openai_chat"
base_url = "builtin:demo"
price = { input = 1000, output = 1000 }
[[models]]
name = "second"
deployment_name = "demo-fixer"
api_kind = "openai_chat"
base_url = "builtin:demo"
price = { input = 1000, output = 1000 }
)" + of_second;
}

std::vector<std::string> models_begun(const Workspace& here) {
  std::vector<std::string> models;
  std::ifstream ledger(here.folder() / "runs/r/ledger.jsonl");
  for (std::string line; std::getline(ledger, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    if (row.at("kind") == "item_start") {
      const std::string item = row.at("item");
      models.push_back(item.substr(item.find('/') + 1, item.rfind("/level") - item.find('/') - 1));
    }
  }
  return models;
}

TEST(Priority, ItemsOfTheHigherOneStartFirstAndAChangeIsNoDrift) {
  const Workspace here;
  here.write("s.toml", config("priority = 5\n"));
  EXPECT_THAT(here.sweep({"s.toml", "--dry-run"}).out,
              HasSubstr("second: 2 items, priority 5, at"));
  const Outcome run = here.sweep({"s.toml"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(models_begun(here), ElementsAre("second", "second", "first", "first"));
  here.write("s.toml", config("priority = -5\n"));
  const Outcome again = here.sweep({"s.toml"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_THAT(again.out + again.err, HasSubstr("nothing to do"));
  here.write("s.toml", config("priority = 1001\n"));
  const Outcome bad = here.sweep({"s.toml"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("priority"));
}

}  // namespace
}  // namespace sweep::e2e
