#include "queue/signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sweep::queue {
namespace {

TEST(StopSignals, CountsEachWayToStop) {
  StopSignals signals;
  EXPECT_EQ(signals.requests(), 0);
  int sent = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ASSERT_EQ(std::raise(signal), 0);
    EXPECT_EQ(signals.requests(), ++sent);
  }
}

TEST(StopSignals, AnIgnoredHangUpStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    StopSignals signals;
    ASSERT_EQ(std::raise(SIGHUP), 0);
    EXPECT_EQ(signals.requests(), 0);
  }
  (void)std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace sweep::queue
