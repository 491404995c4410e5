#include "child.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() == 4 && words[1] == "__child" && words[2] == "test") {
    // A disabled test is one that leaves its process without a usable context.
    testing::InitGoogleTest();
    testing::GTEST_FLAG(filter) = words[3];
    testing::GTEST_FLAG(also_run_disabled_tests) = true;
    return RUN_ALL_TESTS();
  }
  if (words.size() >= 3 && words[1] == "__child") {
    return sweep::gpu::child_main(words[2], {words.begin() + 3, words.end()});
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
