#include "evaluate/step_patch.h"

#include "util/error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>
#include <string>
#include <vector>

namespace sweep::evaluate {
namespace {

using device::Launch;
using device::Step;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) {
    out.push_back(static_cast<std::byte>(value));
  }
  return out;
}

Launch launch(const std::string& kernel, std::vector<std::vector<std::byte>> arguments) {
  Launch made;
  made.kernel = kernel;
  made.arguments = std::move(arguments);
  return made;
}

// The steps as text, to compare them whole.
std::string text(const std::vector<Step>& steps) {
  std::string out;
  for (const Step& step : steps) {
    if (const auto* one = std::get_if<Launch>(&step)) {
      out += one->kernel;
      for (const auto& argument : one->arguments) {
        out += ' ';
        for (const std::byte byte : argument) {
          out += std::to_string(std::to_integer<int>(byte)) + ',';
        }
      }
    } else {
      out += "other";
    }
    out += '\n';
  }
  return out;
}

TEST(StepPatch, OneScalarInManyLaunchesIsOnePatch) {
  std::vector<Step> before, after;
  for (int i = 0; i < 1000; ++i) {
    before.emplace_back(launch("k", {bytes({i % 250}), bytes({7, 0}), bytes({1})}));
    after.emplace_back(launch("k", {bytes({i % 250}), bytes({9, 0}), bytes({1})}));
  }
  const auto patches = patches_between(before, after);
  ASSERT_TRUE(patches);
  EXPECT_EQ(*patches, (std::vector<StepPatch>{{0, 999, 1, bytes({9, 0})}}));
  apply_patches(*patches, before);
  EXPECT_EQ(text(before), text(after));
}

TEST(StepPatch, EqualStepsNeedNone) {
  const std::vector<Step> steps{launch("k", {bytes({1})}), device::Memset{256, 4}};
  const auto patches = patches_between(steps, steps);
  ASSERT_TRUE(patches);
  EXPECT_TRUE(patches->empty());
}

TEST(StepPatch, AnythingButArgumentBytesIsNoPatch) {
  const std::vector<Step> base{
      launch("k", {bytes({1}), bytes({2})}), device::Memset{256, 4}, device::Memcpy{256, 512, 4}};
  std::vector<std::vector<Step>> others(13, base);
  std::get<Launch>(others[0][0]).kernel = "j";
  std::get<Launch>(others[1][0]).grid[1] = 2;
  std::get<Launch>(others[2][0]).block[0] = 64;
  std::get<Launch>(others[3][0]).shared_bytes = 16;
  std::get<Launch>(others[4][0]).arguments.pop_back();
  std::get<Launch>(others[5][0]).arguments[1] = bytes({1, 2});
  std::get<device::Memset>(others[6][1]).bytes = 8;
  std::get<device::Memcpy>(others[7][2]).from = 768;
  others[8].pop_back();
  std::get<Launch>(others[9][0]).attributes.cluster = {2, 1, 1};
  std::get<Launch>(others[10][0]).attributes.cooperative = true;
  std::get<Launch>(others[11][0]).attributes.early_start = true;
  std::get<Launch>(others[12][0]).tensor_maps = {0};
  for (const std::vector<Step>& other : others) {
    EXPECT_FALSE(patches_between(base, other));
  }
}

// Whatever changes in the arguments of whichever launches: the patches, over the wire, give exactly
// the new steps.
TEST(StepPatch, RandomChangesSurvive) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Step> before;
    const int steps = 1 + static_cast<int>(random() % 12);
    for (int i = 0; i < steps; ++i) {
      if (random() % 5 == 0) {
        before.emplace_back(device::Memset{256, 4});
        continue;
      }
      std::vector<std::vector<std::byte>> arguments;
      for (unsigned k = 0; k < 1 + random() % 3; ++k) {
        arguments.push_back(bytes({static_cast<int>(random() % 3)}));
      }
      before.emplace_back(launch("k" + std::to_string(random() % 2), arguments));
    }
    std::vector<Step> after = before;
    for (Step& step : after) {
      if (auto* one = std::get_if<Launch>(&step)) {
        for (auto& argument : one->arguments) {
          argument = random() % 2 == 0 ? argument : bytes({static_cast<int>(random() % 3)});
        }
      }
    }
    const auto patches = patches_between(before, after);
    ASSERT_TRUE(patches);
    apply_patches(patches_from_json(patches_to_json(*patches)), before);
    EXPECT_EQ(text(before), text(after));
  }
}

TEST(StepPatch, HostilePatchesAreRefused) {
  const std::vector<Step> steps{launch("k", {bytes({1})})};
  for (const StepPatch& patch : {StepPatch{0, 1, 0, bytes({1})},
                                 StepPatch{1, 0, 0, bytes({1})},
                                 StepPatch{0, 0, 1, bytes({1})},
                                 StepPatch{0, 0, 0, bytes({1, 2})},
                                 StepPatch{~std::size_t{0}, ~std::size_t{0}, 0, bytes({1})}}) {
    std::vector<Step> copy = steps;
    EXPECT_THROW(apply_patches(std::vector{patch}, copy), util::InfraError);
  }
  EXPECT_THROW(static_cast<void>(patches_from_json("x")), util::InfraError);
  EXPECT_THROW(static_cast<void>(patches_from_json({{{"first", -1}}})), util::InfraError);
}

}  // namespace
}  // namespace sweep::evaluate
