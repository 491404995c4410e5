// Kills of every role at random instants. SWEEP_TORTURE_ROUNDS rounds (default 20), seed
// SWEEP_TORTURE_SEED (default 1); the last lines are a table of what was killed.
#include "campaign.h"
#include "util/clock.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace sweep::torture {
namespace {

constexpr int kKillsEach = 5;  // of one campaign, before it may end

int number_from(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

struct Tally {
  int kills = 0;   // of processes of the role
  int missed = 0;  // rounds in which none lived
};

// The sweep itself more often than each of its roles: most is to be lost there.
const std::vector<std::string>& roles() {
  static const std::vector<std::string> all = {
      "", "", "__worker", "__compile", "cc1plus", "__judge", "__run"};
  return all;
}

std::string called(const std::string& role) {
  return role.empty() ? "supervisor" : role == "cc1plus" ? "g++" : role.substr(2);
}

// Waits a random while for a process of the role, and kills it.
bool strike(Campaign& campaign, const std::string& role, std::mt19937& random) {
  util::RealClock clock;
  campaign.start();
  const double until = clock.monotonic() + std::uniform_real_distribution(0.02, 2.5)(random);
  while (clock.monotonic() < until) {
    if (campaign.ended(0.02)) {
      campaign.check();
      campaign.start();
    }
  }
  for (int tries = 0; tries < 100; ++tries) {
    if (campaign.kill_one(role, random)) {
      return true;
    }
    if (campaign.ended(0.02)) {
      return false;
    }
  }
  return false;
}

TEST(Torture, KilledAnywhereNothingIsLostAndNothingIsPaidTwice) {
  const int rounds = number_from("SWEEP_TORTURE_ROUNDS", 20);
  std::mt19937 random(static_cast<unsigned>(number_from("SWEEP_TORTURE_SEED", 1)));
  std::map<std::string, Tally> tally;
  std::size_t campaigns = 0, lost = 0;
  for (int done = 0; done < rounds && !::testing::Test::HasFailure();) {
    Campaign campaign(static_cast<unsigned>(++campaigns));
    for (int i = 0; i < kKillsEach && done < rounds; ++i, ++done) {
      const std::string role = roles()[random() % roles().size()];
      Tally& of = tally[called(role)];
      ++(strike(campaign, role, random) ? of.kills : of.missed);
      campaign.check();
    }
    campaign.finish();
    lost += campaign.lost_requests();
    // A kill may cost each of three workers the request that was under way, with its faults.
    EXPECT_LE(campaign.lost_requests(), kKillsEach * 3U * 3U);
  }
  std::printf("%-12s %8s %8s\n", "killed", "times", "none");
  for (const auto& [role, of] : tally) {
    std::printf("%-12s %8d %8d\n", role.c_str(), of.kills, of.missed);
  }
  std::printf(
      "%zu campaigns, %zu requests asked again because they were under way\n", campaigns, lost);
}

}  // namespace
}  // namespace sweep::torture
