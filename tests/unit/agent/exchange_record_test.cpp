#include "agent/exchange_record.h"

#include "fakes.h"
#include "record/json.h"
#include "util/error.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

endpoint::Exchange two_tries() {
  endpoint::Exchange out;
  out.path = "/v1/chat/completions?api-version=preview";
  endpoint::Try first;
  first.request = "{}";
  first.status = 429;
  first.headers = {{"Retry-After", "1"}};
  first.response = "slow";
  first.outcome = "rate_limited";
  endpoint::Try last;
  last.request = "{\"a\":1}";
  last.status = 200;
  last.response = "data: x\n\n";
  last.arrivals = {{4, 0.5}, {9, 0.75}};
  last.first_byte_seconds = 0.5;
  last.seconds = 0.8;
  last.outcome = "ok";
  last.fault = "cut";
  out.tries = {first, last};
  return out;
}

TEST(ExchangeRecord, ComesBackAsItWas) {
  test::MemoryRecord memory;
  const std::string hash = put_exchange(memory, two_tries());
  const endpoint::Exchange back =
      get_exchange([&](const std::string& name) { return memory.get_artifact(name); }, hash);
  EXPECT_EQ(back.path, "/v1/chat/completions?api-version=preview");
  ASSERT_THAT(back.tries, SizeIs(2));
  EXPECT_EQ(back.tries[0].status, 429);
  EXPECT_EQ(back.tries[0].headers.at(0).value, "1");
  EXPECT_EQ(back.tries[0].response, "slow");
  EXPECT_EQ(back.tries[1].arrivals.at(1).bytes, 9U);
  EXPECT_DOUBLE_EQ(back.tries[1].arrivals.at(1).seconds, 0.75);
  EXPECT_EQ(back.tries[1].fault, "cut");
  EXPECT_EQ(back.request, "{\"a\":1}");
  EXPECT_EQ(back.response, "data: x\n\n");
  EXPECT_EQ(put_exchange(memory, {}), "");
}

TEST(ExchangeRecord, DamageIsNamedByItsField) {
  test::MemoryRecord memory;
  const auto get = [&](const std::string& name) { return memory.get_artifact(name); };
  const nlohmann::json sound =
      nlohmann::json::parse(memory.get_artifact(put_exchange(memory, two_tries())));
  const auto problem = [&](const auto& damage) -> std::string {
    nlohmann::json copy = sound;
    damage(copy);
    try {
      (void)get_exchange(get, memory.put_artifact(copy.dump()));
    } catch (const util::InfraError& error) {
      return error.what();
    }
    return "nothing";
  };
  using J = nlohmann::json;
  EXPECT_THAT(problem([](J& j) { j["path"] = "http://elsewhere/"; }), HasSubstr("path"));
  EXPECT_THAT(problem([](J& j) { j["tries"] = 3; }), HasSubstr("tries"));
  EXPECT_THAT(problem([](J& j) { j["tries"][0]["request"] = "../../etc/passwd"; }),
              HasSubstr("request is no hash"));
  EXPECT_THAT(problem([](J& j) { j["tries"][1]["status"] = 1e9; }), HasSubstr("status"));
  EXPECT_THAT(problem([](J& j) { j["tries"][1]["headers"] = {{"a"}}; }), HasSubstr("headers"));
  EXPECT_THAT(problem([](J& j) { j = 7; }), HasSubstr("tries"));
  EXPECT_THAT(problem([](J& j) { j["tries"][0].erase("outcome"); }), HasSubstr("outcome"));
}

TEST(ExchangeRecord, StandsInTheFactsOfAFinishedRequest) {
  test::World w;
  w.model.tries = two_tries().tries;
  w.model.answers = {test::says("a", {test::call("submit_kernel", "fast kernel")})};
  (void)w.run();
  const auto hash = w.memory.requests.at(0).facts.value("exchange", "");
  EXPECT_THAT(nlohmann::json::parse(w.memory.artifacts.at(hash)).at("tries"), SizeIs(2));
}

}  // namespace
}  // namespace sweep::agent
