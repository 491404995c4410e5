#include "evaluate/tensor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace sweep::evaluate {
namespace {

using ::testing::ElementsAre;
using Type = device::TensorMap::Type;

submission::TensorMap plan_map(expr::DType type) {
  submission::TensorMap map;
  map.base.type = type;
  map.dims = {3, 5, 64};
  map.box = {1, 4, 32};
  map.steps = {2, 1, 1};
  map.swizzle = 64;
  map.l2_bytes = 256;
  map.nan_outside = true;
  return map;
}

TEST(TensorMap, RunsFromTheInnermostDimOutwards) {
  const device::TensorMap map = device_map(plan_map(expr::DType::bf16), 4096);
  EXPECT_EQ(map.address, 4096U);
  EXPECT_EQ(map.rank, 3);
  EXPECT_EQ(map.type, Type::bf16);
  EXPECT_THAT(map.dims, ElementsAre(64, 5, 3, 0, 0));
  EXPECT_THAT(map.strides, ElementsAre(128, 640, 0, 0));
  EXPECT_THAT(map.box, ElementsAre(32, 4, 1, 0, 0));
  EXPECT_THAT(map.steps, ElementsAre(1, 1, 2, 0, 0));
  EXPECT_EQ(map.swizzle, 64);
  EXPECT_EQ(map.l2_bytes, 256);
  EXPECT_EQ(map.nan_outside, 1);
}

TEST(TensorMap, TypesThatTmaLacksTravelAsIntegersOfTheirSize) {
  for (const auto& [type, wanted] : {std::pair{expr::DType::e4m3, Type::u8},
                                     std::pair{expr::DType::boolean, Type::u8},
                                     std::pair{expr::DType::i8, Type::u8},
                                     std::pair{expr::DType::i16, Type::u16},
                                     std::pair{expr::DType::u32, Type::u32},
                                     std::pair{expr::DType::i32, Type::i32},
                                     std::pair{expr::DType::c64, Type::u64},
                                     std::pair{expr::DType::i64, Type::i64},
                                     std::pair{expr::DType::f16, Type::f16},
                                     std::pair{expr::DType::f32, Type::f32},
                                     std::pair{expr::DType::f64, Type::f64}}) {
    EXPECT_EQ(device_map(plan_map(type), 0).type, wanted) << expr::name(type);
  }
}

// All of it compares: two maps of the same are the same bytes, so that no patch is made for them.
TEST(TensorMap, EqualMapsAreEqualBytes) {
  const device::TensorMap a = device_map(plan_map(expr::DType::f32), 512);
  const device::TensorMap b = device_map(plan_map(expr::DType::f32), 512);
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
}

TEST(TensorMap, WithoutElementsItHasNoRank) {
  submission::TensorMap map = plan_map(expr::DType::f32);
  map.dims[1] = 0;
  const device::TensorMap made = device_map(map, 512);
  const device::TensorMap none;
  EXPECT_EQ(std::memcmp(&made, &none, sizeof made), 0);
}

}  // namespace
}  // namespace sweep::evaluate
