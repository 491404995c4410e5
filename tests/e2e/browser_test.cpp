#include "peer.h"
#include "program.h"
#include "util/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

// The report in a real browser: tests/browser/report_test.mjs.
namespace sweep::e2e {
namespace {

std::optional<std::filesystem::path> chromium() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (auto found = util::find_program(name)) {
      return found;
    }
  }
  return std::nullopt;
}

// Those of the script's tests whose names match.
void expect_passes(const std::string& names) {
  if (const std::string why = no_peers(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const auto browser = chromium();
  if (!browser) {
    GTEST_SKIP() << "chromium is not installed (scripts/setup installs it)";
  }
  const Workspace here;
  const Outcome outcome = here.command({util::find_program("env")->string(),
                                        "CHROMIUM=" + browser->string(),
                                        "SWEEP=" + Workspace::program(),
                                        "BROWSER_PACKAGES=" SWEEP_BROWSER_PACKAGES,
                                        "HOME=" + here.folder().string(),
                                        "TMPDIR=" + here.folder().string(),
                                        util::find_program("node")->string(),
                                        "--test",
                                        "--test-name-pattern=" + names,
                                        SWEEP_SOURCE_DIR "/tests/browser/report_test.mjs"},
                                       280);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::ContainsRegex("\n# pass [1-9]")) << outcome.out;
}

TEST(Browser, EveryPageOfAHostileRunOpens) {
  expect_passes("^every page");
}

TEST(Browser, AxeFindsNoFault) {
  expect_passes("^axe");
}

TEST(Browser, ReadersFindTheirWay) {
  expect_passes("^(links|tables|filters|a |hostile|every figure|without|the live)");
}

}  // namespace
}  // namespace sweep::e2e
