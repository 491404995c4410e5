#include "util/heap.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace sweep::util {
namespace {

std::vector<std::string> texts_of_all_sizes() {
  std::vector<std::string> out;
  for (std::size_t size = 1; size < (std::size_t{64} << 20U); size = size * 3 + 1) {
    out.emplace_back(size, static_cast<char>('a' + out.size() % 26));
  }
  return out;
}

TEST(ExpectMuchMemory, LeavesAHeapThatHoldsWhatIsPutThere) {
  const std::vector<std::string> before = texts_of_all_sizes();
  expect_much_memory(std::size_t{64} << 20U);
  expect_much_memory(0);
  std::vector<std::string> beside;
  std::thread([&] { beside = texts_of_all_sizes(); }).join();
  EXPECT_EQ(texts_of_all_sizes(), before);
  EXPECT_EQ(beside, before);
}

}  // namespace
}  // namespace sweep::util
