#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <set>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(Doctor, ShowsEverySandboxAsItHolds) {
  const Workspace here;
  const nlohmann::json report = nlohmann::json::parse(here.sweep({"doctor", "--json"}).out);
  for (const std::string whose : {"compiler", "judge", "runner"}) {
    std::set<std::string> rows;
    for (const nlohmann::json& row : report.at("findings")) {
      if (row.at("group") == whose + "'s sandbox") {
        rows.insert(row.at("name"));
        // Whoever lacks something is told what to do, and nobody else.
        EXPECT_EQ(row.at("cure") == "", row.at("ok") || !row.at("needed")) << row.dump();
      }
    }
    EXPECT_THAT(
        rows,
        IsSupersetOf(
            {"landlock", "seccomp", "network namespace", "process limit", "user", "pid namespace"}))
        << whose;
  }
}

TEST(Doctor, NamesTheCureOfWhatIsMissing) {
  const Workspace here;
  const Outcome outcome = here.sweep_without({"landlock"}, {"doctor"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("MISSING  landlock"));
  EXPECT_THAT(outcome.out, HasSubstr("lsm="));
}

TEST(Doctor, ADeviceThatIsNotListedIsMissing) {
  const Workspace here;
  const Outcome outcome = here.sweep({"doctor", "--device", "cuda:99"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("MISSING  cuda:99"));
}

TEST(Doctor, SaysWhichProfilingToolsAreThere) {
  const Workspace here;
  const std::filesystem::path tool = here.write("cuda/bin/ncu", "#!/bin/sh\n");
  std::filesystem::permissions(tool, std::filesystem::perms(0755));
  const Outcome outcome =
      here.sweep({"doctor", "--json"}, {"CUDA_HOME=" + (here.folder() / "cuda").string()});
  std::map<std::string, nlohmann::json> rows;
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  for (const nlohmann::json& row : report.at("findings")) {
    if (row.at("group") == "profiling") {
      rows[row.at("name")] = row;
    }
  }
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows.at("ncu").at("detail"), tool.string());
  for (const auto& [name, row] : rows) {
    EXPECT_EQ(row.at("cure") == "", row.at("ok")) << name;
    EXPECT_EQ(row.at("needed"), false) << name;
  }
}

}  // namespace
}  // namespace sweep::e2e
