#include "profile/tools.h"

#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Tools : public testing::Test {
 protected:
  fs::path program(const std::string& name, bool executable = true) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    util::write_file_atomic(path, "#!/bin/sh\n", executable ? 0755 : 0644);
    return path;
  }

  [[nodiscard]] ToolSearch search() const {
    return {folder_.path() / "home", folder_.path() / "toolkit", folder_.path() / "nsight", false};
  }

  [[nodiscard]] fs::path found(Tool tool) const {
    const auto result = find_tool(tool, search());
    const auto* path = std::get_if<fs::path>(&result);
    return path == nullptr ? fs::path() : *path;
  }

  util::TempDir folder_;
};

TEST_F(Tools, TakesCudaHomeBeforeTheToolkit) {
  const fs::path second = program("toolkit/bin/nvdisasm");
  EXPECT_EQ(found(Tool::nvdisasm), second);
  const fs::path first = program("home/bin/nvdisasm");
  EXPECT_EQ(found(Tool::nvdisasm), first);
}

TEST_F(Tools, TakesTheNewestNsightCompute) {
  (void)program("nsight/2025.3.1/ncu");
  const fs::path newest = program("nsight/2025.10.0/ncu");
  (void)program("nsight/2024.11.2/ncu");
  EXPECT_EQ(found(Tool::ncu), newest);
  (void)program("nsight/2026.1.0/README");
  EXPECT_EQ(found(Tool::ncu), newest);
}

TEST_F(Tools, KnowsTheFolderOfTheSanitizer) {
  const fs::path path = program("toolkit/compute-sanitizer/compute-sanitizer");
  EXPECT_EQ(found(Tool::compute_sanitizer), path);
}

TEST_F(Tools, WhatCannotBeRunIsNone) {
  (void)program("home/bin/cuobjdump", false);
  fs::create_directories(folder_.path() / "toolkit/bin/cuobjdump");
  EXPECT_EQ(found(Tool::cuobjdump), fs::path());
}

TEST_F(Tools, SaysWhatToInstall) {
  const auto result = find_tool(Tool::ncu, search());
  const auto& missing = std::get<Unavailable>(result);
  EXPECT_THAT(missing.text(), HasSubstr("ncu was not found"));
  EXPECT_THAT(missing.text(), HasSubstr("install Nsight Compute"));
}

}  // namespace
}  // namespace sweep::profile
