#include "util/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace sweep::util {
namespace {

TEST(Parallel, DoesEachOnceWhateverTheWorkers) {
  for (const unsigned workers : {0U, 1U, 3U, 50U}) {
    std::vector<std::atomic<int>> done(20);
    in_parallel(done.size(), workers, [&](std::size_t i) { ++done[i]; });
    for (const auto& one : done) {
      EXPECT_EQ(one, 1) << workers;
    }
  }
  in_parallel(0, 2, [](std::size_t) { FAIL(); });
}

TEST(Parallel, ThrowsHereWhatWasThrownThereAndBeginsNoMore) {
  std::atomic<int> begun = 0;
  EXPECT_THROW(in_parallel(1000,
                           2,
                           [&](std::size_t i) {
                             ++begun;
                             if (i >= 1) {
                               throw std::runtime_error("no");
                             }
                           }),
               std::runtime_error);
  EXPECT_LE(begun, 4);
}

}  // namespace
}  // namespace sweep::util
