#include "evaluate/hex.h"
#include "evaluate/judge_protocol.h"
#include "evaluate/runner_protocol.h"
#include "util/error.h"
#include "wire/channel.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace sweep::evaluate {
namespace {

using nlohmann::json;

std::vector<device::Step> steps() {
  device::Launch launch;
  launch.kernel = "k<1>";
  launch.grid = {4294967295U, 2, 3};
  launch.block = {1024, 1, 1};
  launch.shared_bytes = 98304;
  launch.arguments = {{std::byte{1}, std::byte{255}}, {}};
  device::Launch special = launch;
  special.arguments = {{std::byte{1}}, std::vector<std::byte>(128, std::byte{7})};
  special.attributes = {{2, 4, 1}, true, true};
  special.tensor_maps = {1};
  return {launch, device::Memset{0xffffffffffffff00U, 12}, device::Memcpy{1, 2, 3}, special};
}

TEST(RunnerProtocol, StepsSurviveTheWay) {
  const json body = json::parse(steps_to_json(steps()).dump());
  const auto back = steps_from_json(body);
  ASSERT_EQ(back.size(), 4U);
  const auto& launch = std::get<device::Launch>(back[0]);
  EXPECT_EQ(launch.kernel, "k<1>");
  EXPECT_EQ(launch.grid[0], 4294967295U);
  EXPECT_EQ(launch.shared_bytes, 98304U);
  EXPECT_EQ(launch.arguments[0][1], std::byte{255});
  EXPECT_TRUE(launch.arguments[1].empty());
  EXPECT_EQ(std::get<device::Memset>(back[1]).to, 0xffffffffffffff00U);
  EXPECT_EQ(launch.attributes, device::LaunchAttributes{});
  EXPECT_EQ(std::get<device::Memcpy>(back[2]).from, 2U);
  const auto& special = std::get<device::Launch>(back[3]);
  EXPECT_EQ(special.attributes, (device::LaunchAttributes{{2, 4, 1}, true, true}));
  EXPECT_EQ(special.tensor_maps, std::vector<std::size_t>{1});
  EXPECT_EQ(steps_to_json(back), steps_to_json(steps()));
}

TEST(RunnerProtocol, AMapMustBeAnArgumentOfItsSize) {
  for (const std::int64_t wrong : {-1, 0, 2}) {
    json body = steps_to_json(steps());
    body[3]["maps"] = {wrong};
    EXPECT_THROW((void)steps_from_json(body), util::InfraError) << wrong;
  }
}

TEST(RunnerProtocol, FaultsSurviveAndTheirTextIsBounded) {
  device::Fault fault{device::Fault::Kind::memory, std::string(100000, 'x')};
  fault.address = 0x7fffffffffffU;
  const device::Fault back = fault_from_json(fault_to_json(fault));
  EXPECT_EQ(back.kind, fault.kind);
  EXPECT_EQ(back.address, fault.address);
  EXPECT_LE(back.text.size(), 4096U);
  json strange = fault_to_json(fault);
  strange["kind"] = 99;
  EXPECT_EQ(fault_from_json(strange).kind, device::Fault::Kind::other);
}

// Replaces one member anywhere by something else.
void damage(json& body, std::mt19937& random) {
  static const std::vector<json> kOdd = {nullptr,
                                         -1,
                                         1e300,
                                         "x",
                                         json::array(),
                                         json::object(),
                                         true,
                                         1ULL << 63U,
                                         "zz",
                                         json::array({-1}),
                                         json::array({json::object()})};
  json* at = &body;
  while (at->is_structured() && !at->empty() && random() % 4 != 0) {
    auto it = at->begin();
    std::advance(it, static_cast<long>(random() % at->size()));
    at = &*it;
  }
  *at = kOdd[random() % kOdd.size()];
}

// Whatever a hostile peer sends ends in a value or in an exception that the roles catch.
template <class Read>
void fuzz(const json& good, const Read& read) {
  std::mt19937 random(12345);
  for (int i = 0; i < 3000; ++i) {
    json body = good;
    for (auto n = random() % 3U + 1U; n > 0; --n) {
      damage(body, random);
    }
    try {
      read(body);
    } catch (const util::Error&) {
    } catch (const json::exception&) {
    }
  }
}

TEST(RunnerProtocol, HostileMessagesDoNotBreakTheReader) {
  fuzz(steps_to_json(steps()), [](const json& body) { (void)steps_from_json(body); });
  device::Fault fault{device::Fault::Kind::other, "x"};
  fault.address = 1;
  fuzz(fault_to_json(fault), [](const json& body) { (void)fault_from_json(body); });
  device::FunctionFacts facts;
  facts.parameter_bytes = {8, 4};
  fuzz(facts_to_json(facts), [](const json& body) { (void)facts_from_json(body); });
}

TEST(JudgeProtocol, OptionsSurviveTheWay) {
  StageOptions options;
  options.seed = 0xffffffffffffffffU;
  options.places = {{"n=3", {{"n", 3}}}};
  options.salt = std::string("\0\xff salt", 7);
  options.session = "s";
  options.replicates = 7;
  options.pilot = true;
  options.may_say_faster = false;
  const StageOptions back = options_from_json(json::parse(options_to_json(options).dump()));
  EXPECT_EQ(back.seed, options.seed);
  ASSERT_EQ(back.places.size(), 1U);
  EXPECT_EQ(back.places[0].free.at("n"), 3);
  EXPECT_EQ(back.salt, options.salt);
  EXPECT_EQ(back.replicates, 7);
  EXPECT_TRUE(back.pilot);
  EXPECT_FALSE(back.may_say_faster);
  fuzz(options_to_json(options), [](const json& body) { (void)options_from_json(body); });
}

TEST(JudgeProtocol, ErrorsKeepKindPartsAndCode) {
  try {
    throw_error(error_to_json(util::UsageError({"here", "what \xff", "next"}, "E_X")));
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_X");
    EXPECT_EQ(error.message().where, "here");
    EXPECT_EQ(error.message().next, "next");
  }
  EXPECT_THROW(throw_error(error_to_json(util::InfraError({"a", "b", ""}, "E_Y"))),
               util::InfraError);
  EXPECT_THROW(throw_error(error_to_json(std::runtime_error("plain"))), util::InfraError);
}

TEST(Hex, RoundTripsAndRefuses) {
  std::string all;
  for (int i = 0; i < 256; ++i) {
    all += static_cast<char>(i);
  }
  EXPECT_EQ(text_from_hex(to_hex(std::string_view(all))), all);
  EXPECT_EQ(to_hex(std::string_view("\x01\xab")), "01ab");
  EXPECT_THROW((void)bytes_from_hex("0"), util::InfraError);
  EXPECT_THROW((void)bytes_from_hex("0g"), util::InfraError);
  EXPECT_THROW((void)bytes_from_hex("AB"), util::InfraError);
}

}  // namespace
}  // namespace sweep::evaluate
