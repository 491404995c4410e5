#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

// A run is made, exported, published, checked and tampered with by the built program.
namespace sweep::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// demo-flaky hands in a correct kernel after an answer that fails.
const char* const kConfig = R"(
[run]
name = "first"
problems = ["level1/3"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1

[report]
serve = false

[[models]]
name = "demo-flaky"
base_url = "builtin:demo"
api_kind = "openai_chat"
)";

class Publish : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    here_ = new Workspace;
    here_->write("first.toml", kConfig);
    const Outcome run = here_->sweep({"first.toml"});
    ASSERT_EQ(run.code, 0) << run.out << run.err;
  }

  static void TearDownTestSuite() {
    delete here_;
    here_ = nullptr;
  }

  static Workspace* here_;
};

Workspace* Publish::here_ = nullptr;

TEST_F(Publish, ExportsEveryTable) {
  const auto json = here_->sweep_json({"report", "first", "--export", "tables"});
  EXPECT_EQ(json.at("exports"), "tables");
  for (const char* name : {"items.csv",
                           "models.tex",
                           "models.md",
                           "schema.json",
                           "popcorn_results.csv",
                           "summary.html"}) {
    EXPECT_TRUE(fs::is_regular_file(here_->folder() / "tables" / name)) << name;
  }
  EXPECT_THAT(content(here_->folder() / "tables/items.csv"), HasSubstr("level1/3,demo-flaky,"));
  // A folder of something else is left alone.
  here_->write("mine/notes.txt", "mine");
  const Outcome refused = here_->sweep({"report", "first", "--export", "mine"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("E_EXPORT_OUT"));
}

TEST_F(Publish, RunsAreComparedByACommandOfItsOwn) {
  const Outcome old = here_->sweep({"report", "first", "first"});
  EXPECT_EQ(old.code, 2);
  EXPECT_THAT(old.err, HasSubstr("sweep compare first first"));
  EXPECT_EQ(here_->sweep({"compare", "first"}).code, 2);
  const auto json = here_->sweep_json({"compare", "first", "first"});
  EXPECT_EQ(json.at("pairs").at(0).at("only_other"), 0);
  EXPECT_EQ(json.at("pairs").at(0).at("solved_p"), 1);
}

TEST_F(Publish, NothingPrivateLeavesAndTheBundleVerifies) {
  const Outcome published =
      here_->sweep({"publish", "first", "out", "--redact", "demo-flaky"}, {"USER=planteduser"});
  ASSERT_EQ(published.code, 0) << published.err;
  EXPECT_THAT(published.out, HasSubstr("cite      sha256 "));
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const std::string field = "\"host\":\"" + std::string(host.data()) + "\"";
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(here_->folder() / "out")) {
    if (!entry.is_regular_file()) {
      continue;
    }
    ++files;
    const std::string text = content(entry.path());
    for (const std::string& planted :
         {here_->folder().string(), std::string("planteduser"), std::string("demo-flaky"), field}) {
      EXPECT_EQ(text.find(planted), std::string::npos) << entry.path() << ": " << planted;
      EXPECT_EQ(entry.path().lexically_relative(here_->folder()).string().find("demo-flaky"),
                std::string::npos);
    }
  }
  EXPECT_GT(files, 20U);
  const Outcome verified = here_->sweep({"verify", "out"});
  EXPECT_EQ(verified.code, 0) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("Not proved"));
  EXPECT_THAT(verified.out, HasSubstr("no commitment to a salt"));
  EXPECT_THAT(content(here_->folder() / "out/report/cite.html"), HasSubstr("can prove"));
  EXPECT_EQ(here_->sweep({"verify", "first"}).code, 0);  // the run itself is as it was
}

TEST_F(Publish, OverwritesNothingAndATamperedBundleIsFound) {
  ASSERT_EQ(here_->sweep({"publish", "first", "again"}).code, 0);
  const Outcome twice = here_->sweep({"publish", "first", "again"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("E_PUBLISH_OUT"));
  std::ofstream(here_->folder() / "again/report/data/models.csv", std::ios::app) << "x";
  const Outcome verified = here_->sweep({"verify", "again"});
  EXPECT_EQ(verified.code, 3);
  EXPECT_THAT(verified.out, HasSubstr("models.csv: changed since it was published"));
  EXPECT_EQ(here_->sweep({"verify", "first", "--salt", "first.toml"}).code, 2);
}

}  // namespace
}  // namespace sweep::e2e
