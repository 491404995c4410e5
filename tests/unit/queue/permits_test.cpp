#include "queue/permits.h"

#include "util/file.h"

#include <gtest/gtest.h>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace sweep::queue {
namespace {

const auto kAtOnce = [](double) { return false; };

TEST(Slots, GiveAsManyAsThereAre) {
  const util::TempDir dir;
  const Slots slots(dir.path(), "m", 2);
  auto first = slots.take(kAtOnce);
  const auto second = slots.take(kAtOnce);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(slots.take(kAtOnce));
  first.reset();
  EXPECT_TRUE(slots.take(kAtOnce));
}

TEST(Slots, AreApartByName) {
  const util::TempDir dir;
  const auto a = Slots(dir.path(), "a", 1).take(kAtOnce);
  EXPECT_TRUE(a);
  EXPECT_TRUE(Slots(dir.path(), "b", 1).take(kAtOnce));
}

TEST(Slots, ComeBackWhenTheirHolderDies) {
  const util::TempDir dir;
  const Slots slots(dir.path(), "m", 1);
  auto [mine, theirs] = util::make_socketpair();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = slots.take(kAtOnce);
    util::write_all(theirs.get(), held ? "y" : "n", "test");
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(util::read_all(mine.get(), &answer, 1, "test"), 1U);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(slots.take(kAtOnce));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(slots.take(kAtOnce));
}

}  // namespace
}  // namespace sweep::queue
