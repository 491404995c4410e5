// Tensor maps on the device: the plan's terms become descriptors that copies obey.
#include "fixture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace sweep::gpu {
namespace {

using ::testing::HasSubstr;

// One thread fetches one box and writes it out as it lies in shared memory; or sends it back.
constexpr const char* kText = R"(
struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
using CUtensorMap = CUtensorMap_st;
using u32 = unsigned int;
constexpr u32 kBytes = 4096;
__device__ void fetch(const CUtensorMap& map, int x, int y, u32 bytes, unsigned char* box) {
  __shared__ alignas(8) unsigned long long bar;
  u32 at = (u32)__cvta_generic_to_shared(&bar), to = (u32)__cvta_generic_to_shared(box), done = 0;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"((unsigned long long)&map), "r"(x), "r"(y), "r"(at) : "memory");
  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(at) : "memory");
  }
}
extern "C" __global__ void show(const __grid_constant__ CUtensorMap map, int x, int y, u32 bytes, unsigned char* out) {
  __shared__ alignas(1024) unsigned char box[kBytes];
  fetch(map, x, y, bytes, box);
  for (u32 i = 0; i < bytes; ++i) out[i] = box[i];
}
extern "C" __global__ void move(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                                int x, int y, u32 bytes) {
  __shared__ alignas(1024) unsigned char box[kBytes];
  fetch(from, x, y, bytes, box);
  u32 at = (u32)__cvta_generic_to_shared(box);
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
               :: "l"((unsigned long long)&to), "r"(x), "r"(y), "r"(at) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
extern "C" __global__ void ignore(const __grid_constant__ CUtensorMap map, u32* out) { *out = 5; }
)";

class TensorMaps : public OnDevice {
 protected:
  static constexpr std::uint32_t kRows = 20;
  static constexpr std::uint32_t kCols = 48;  // f32

  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped()) {
      module_ = load(compile(kText, {"show", "move", "ignore"}));
      ASSERT_NE(module_, nullptr);
      matrix_ = on().allocate(kRows * kCols * 4);
      out_ = on().allocate(4096);
      std::vector<float> values(kRows * kCols);
      std::iota(values.begin(), values.end(), 0.0F);
      on().upload(matrix_->address(), std::as_bytes(std::span(values)));
    }
  }

  // The whole matrix; boxes of `rows` x `cols`.
  [[nodiscard]] device::TensorMap map(device::Address at,
                                      std::uint16_t rows,
                                      std::uint16_t cols) const {
    device::TensorMap out;
    out.address = at;
    out.dims = {kCols, kRows};
    out.strides = {kCols * 4};
    out.box = {cols, rows};
    out.steps = {1, 1};
    out.rank = 2;
    out.type = device::TensorMap::Type::f32;
    return out;
  }

  [[nodiscard]] device::Launch show(const device::TensorMap& map, int x, int y) const {
    const std::uint32_t bytes =
        map.box[0] * map.box[1] / std::max<std::uint32_t>(map.steps[1], 1) * 4U;
    device::Launch launch{
        "show",
        {1, 1, 1},
        {1, 1, 1},
        0,
        {bytes_of(map), bytes_of(x), bytes_of(y), bytes_of(bytes), bytes_of(out_->address())}};
    launch.tensor_maps = {0};
    return launch;
  }

  [[nodiscard]] std::vector<float> shown(const device::TensorMap& map, int x, int y) {
    run_once(*module_, show(map, x, y));
    return download<float>(out_->address(), std::size_t{map.box[0]} * map.box[1] / map.steps[1]);
  }

  std::unique_ptr<device::Module> module_;
  std::unique_ptr<device::Buffer> matrix_;
  std::unique_ptr<device::Buffer> out_;
};

TEST_F(TensorMaps, ABoxComesRowByRow) {
  const auto got = shown(map(matrix_->address(), 3, 8), 16, 5);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 8; ++c) {
      EXPECT_EQ(got[r * 8 + c], static_cast<float>((5 + r) * kCols + 16 + c));
    }
  }
}

TEST_F(TensorMaps, OutsideIsZeroOrNan) {
  device::TensorMap corner = map(matrix_->address(), 4, 8);
  auto got = shown(corner, kCols - 4, kRows - 2);
  EXPECT_EQ(got[3], static_cast<float>((kRows - 1) * kCols - 1));
  EXPECT_EQ(got[4], 0.0F);   // right of the matrix
  EXPECT_EQ(got[16], 0.0F);  // below it
  corner.nan_outside = 1;
  got = shown(corner, kCols - 4, kRows - 2);
  EXPECT_EQ(got[3], static_cast<float>((kRows - 1) * kCols - 1));
  EXPECT_TRUE(std::isnan(got[4]));
  EXPECT_TRUE(std::isnan(got[16]));
}

// 128 bytes: the chunk of 16 bytes that lies at place p of row r is chunk p ^ (r % 8).
TEST_F(TensorMaps, TheSwizzleIsTheOneOfItsName) {
  device::TensorMap swizzled = map(matrix_->address(), 16, 32);
  swizzled.swizzle = 128;
  const auto got = shown(swizzled, 0, 0);
  for (std::size_t r = 0; r < 16; ++r) {
    for (std::size_t c = 0; c < 32; ++c) {
      const std::size_t from = (c / 4 ^ r % 8) * 4 + c % 4;
      ASSERT_EQ(got[r * 32 + c], static_cast<float>(r * kCols + from)) << r << " " << c;
    }
  }
}

TEST_F(TensorMaps, StridesLeaveElementsOut) {
  device::TensorMap second = map(matrix_->address(), 8, 4);
  second.steps = {1, 2};
  second.l2_bytes = 128;
  const auto got = shown(second, 0, 0);
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(got[r * 4], static_cast<float>(2 * r * kCols));
  }
}

TEST_F(TensorMaps, ABoxGoesBackAndStopsAtTheEdge) {
  const auto target = on().allocate(kRows * kCols * 4);
  on().fill_words(target->address(), kRows * kCols * 4, 0x7fc00000U);
  const device::TensorMap from = map(matrix_->address(), 8, 16);
  const device::TensorMap to = map(target->address(), 8, 16);
  device::Launch launch{"move",
                        {1, 1, 1},
                        {1, 1, 1},
                        0,
                        {bytes_of(from),
                         bytes_of(to),
                         bytes_of(static_cast<int>(kCols) - 8),
                         bytes_of(static_cast<int>(kRows) - 3),
                         bytes_of(8U * 16U * 4U)}};
  launch.tensor_maps = {0, 1};
  run_once(*module_, launch);
  const auto got = download<float>(target->address(), std::size_t{kRows} * kCols);
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kCols; ++c) {
      const bool moved = r + 3 >= kRows && c + 8 >= kCols;
      const float value = got[r * kCols + c];
      EXPECT_TRUE(moved ? value == static_cast<float>(r * kCols + c) : std::isnan(value));
    }
  }
}

TEST_F(TensorMaps, ChangeInPlace) {
  const auto other = on().allocate(kRows * kCols * 4);
  on().fill_words(other->address(), kRows * kCols * 4, 0x40000000U);
  std::vector<device::Step> steps{show(map(matrix_->address(), 1, 4), 0, 1)};
  auto sequence = prepare(*module_, steps);
  ASSERT_NE(sequence, nullptr);
  run(*sequence);
  EXPECT_EQ(download<float>(out_->address(), 1)[0], static_cast<float>(kCols));
  steps[0] = show(map(other->address(), 1, 4), 0, 1);
  ASSERT_TRUE(on().update(*sequence, steps));
  run(*sequence);
  EXPECT_EQ(download<float>(out_->address(), 1)[0], 2.0F);
}

TEST_F(TensorMaps, OneWithoutElementsCanBePassed) {
  device::Launch launch{"ignore",
                        {1, 1, 1},
                        {1, 1, 1},
                        0,
                        {bytes_of(device::TensorMap{}), bytes_of(out_->address())}};
  launch.tensor_maps = {0};
  run_once(*module_, launch);
  EXPECT_EQ(download<std::uint32_t>(out_->address(), 1)[0], 5U);
}

TEST_F(TensorMaps, WhatTheDriverRefusesIsAFault) {
  device::TensorMap odd = map(matrix_->address(), 3, 8);
  odd.strides[0] = kCols * 4 + 4;
  const std::vector<device::Step> steps{show(odd, 0, 0)};
  const auto made = on().prepare(*module_, steps);
  const auto* fault = std::get_if<device::Fault>(&made);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->kind, device::Fault::Kind::launch);
  EXPECT_THAT(fault->text, HasSubstr("kernel show: the tensor map of argument 1"));
}

}  // namespace
}  // namespace sweep::gpu
