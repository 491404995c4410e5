#include "child.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() >= 3 && words[1] == "__child") {
    return sweep::gpu::child_main(words[2], {words.begin() + 3, words.end()});
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
