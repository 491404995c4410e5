#pragma once

#include "util/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sweep::test {

// Compares `text` with tests/golden/NAME. With SWEEP_UPDATE_GOLDEN in the environment the file is
// written instead, for a reader to look at in the diff.
inline void expect_text(const std::string& name, const std::string& text) {
  const std::filesystem::path file =
      std::filesystem::path(SWEEP_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("SWEEP_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    util::write_file_atomic(file, text + "\n", 0644);
    return;
  }
  std::error_code error;
  const std::string expected = std::filesystem::exists(file, error)
                                   ? util::read_file(file, std::size_t{1} << 20U)
                                   : std::string();
  EXPECT_EQ(text + "\n", expected)
      << file.string() << " says something else; where the new text is meant, run the test with "
      << "SWEEP_UPDATE_GOLDEN=1 and read the diff";
}

}  // namespace sweep::test
