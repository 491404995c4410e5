#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

std::string digest(const Workspace& here) {
  return here
      .command({"/bin/sh", "-c", "find runs/r -type f | sort | xargs sha256sum; find runs | wc -l"})
      .out;
}

TEST(Reeval, JudgesIntoACopyAndLeavesTheRunAsItIs) {
  const Workspace here;
  here.write("s.toml", kOneItem);
  ASSERT_EQ(here.sweep({"s.toml"}).code, 0);
  const std::string before = digest(here);
  const Outcome dry = here.sweep({"reeval", "r", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("of 1 changed; nothing was written"));
  EXPECT_EQ(digest(here), before);
  const nlohmann::json done = here.sweep_json({"reeval", "r"});
  EXPECT_EQ(done.at("items").size(), 1U);
  EXPECT_EQ(done.at("items").at(0).at("before").at("outcome"), "correct");
  EXPECT_EQ(done.at("items").at(0).at("now").at("outcome"), "correct");
  EXPECT_THAT(digest(here),
              ::testing::StartsWith(before.substr(0, before.rfind('\n', before.size() - 2))));
  EXPECT_EQ(here.sweep({"verify", "r-reeval"}).code, 0);
  EXPECT_EQ(here.rows("runs/r-reeval", "reeval"), 1);
  EXPECT_EQ(here.rows("runs/r-reeval", "request"), here.rows("runs/r", "request"));
  EXPECT_EQ(here.sweep({"compare", "r", "r-reeval"}).code, 0);
  EXPECT_EQ(here.sweep({"reeval", "r"}).code, 2);  // the copy is there
  EXPECT_EQ(here.sweep({"reeval", "r", "--out", "x", "--only", "none"}).code, 2);
  EXPECT_EQ(here.sweep({"reeval", "nothing"}).code, 2);
}

// A problem that was changed since turns the verdict, and the reason is named.
TEST(Reeval, SaysThatTheProblemChanged) {
  const Workspace here;
  here.write("s.toml", kOneItem);
  ASSERT_EQ(here.sweep({"s.toml"}).code, 0);
  const Outcome copied =
      here.command({"/bin/sh",
                    "-c",
                    "mkdir -p p/level1 && cp -r " SWEEP_SOURCE_DIR
                    "/problems/level1/3_csr_spmm p/level1/ && cp " SWEEP_SOURCE_DIR
                    "/seeds/level1/3_csr_spmm.cu p/level1/3_csr_spmm/seed.cu && "
                    "sed -i 's/sum += /sum -= /' p/level1/3_csr_spmm/reference.cu && "
                    "grep -c 'sum -= ' p/level1/3_csr_spmm/reference.cu"});
  ASSERT_EQ(copied.out, "1\n") << copied.err;
  const Outcome done = here.sweep({"reeval", "r", "--dry-run"},
                                  {"SWEEP_PROBLEMS=" + (here.folder() / "p").string()});
  EXPECT_THAT(done.out, HasSubstr("CHANGED")) << done.err;
  EXPECT_THAT(done.out, HasSubstr("the problem's files:"));
}

// The artifact of the item's judged kernel.
std::filesystem::path kernel_artifact(const Workspace& here) {
  const auto file = here.folder() / "runs/r/custom/demo-fixer/level_1_problem_3_trajectory.json";
  const nlohmann::json t = nlohmann::json::parse(std::ifstream(file));
  return here.folder() / "runs/r/artifacts" /
         t.at("final_result").at("kernel_sha256").get<std::string>();
}

TEST(Reeval, AKernelsTextThatIsLostStopsNoOther) {
  const Workspace here;
  here.write("s.toml", kOneItem);
  ASSERT_EQ(here.sweep({"s.toml"}).code, 0);
  std::filesystem::remove(kernel_artifact(here));
  // The file beside the trajectory still has it.
  const nlohmann::json mended = here.sweep_json({"reeval", "r", "--out", "runs/mended"});
  EXPECT_EQ(mended.at("items").at(0).at("now").at("outcome"), "correct");
  EXPECT_EQ(here.sweep({"verify", "mended"}).code, 0);
  here.write("runs/r/custom/demo-fixer/level_1_problem_3_kernel.cu", "another");
  const Outcome lost = here.sweep({"reeval", "r", "--out", "runs/lost"});
  EXPECT_EQ(lost.code, 3);
  EXPECT_THAT(lost.out, HasSubstr("the text that was handed in is lost"));
  EXPECT_EQ(here.sweep_json({"status", "lost"}).at("state"), "finished");
  EXPECT_EQ(here.sweep({"verify", "lost"}).code, 3);  // as the run itself is not
}

TEST(Reeval, DamagedArtifactsAreNamedAndNotCopied) {
  const Workspace here;
  here.write("s.toml", kOneItem);
  ASSERT_EQ(here.sweep({"s.toml"}).code, 0);
  const std::string bad = kernel_artifact(here).filename().string();
  std::filesystem::remove(kernel_artifact(here));
  here.write("runs/r/artifacts/" + bad, "damaged");
  const Outcome done = here.sweep({"reeval", "r"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("artifacts/" + bad + ": missing or damaged"));
  // Nothing is made in a run that is only read.
  std::filesystem::remove_all(here.folder() / "runs/r/artifacts");
  EXPECT_EQ(here.sweep({"reeval", "r", "--dry-run"}).code, 3);
  EXPECT_EQ(here.sweep({"replay", "r"}).code, 3);
  EXPECT_EQ(here.sweep({"status", "r"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(here.folder() / "runs/r/artifacts"));
}

}  // namespace
}  // namespace sweep::e2e
