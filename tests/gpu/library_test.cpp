// Real cuBLAS, cuSPARSE and cuFFT, each captured into a graph and run on small exact numbers.
#include "device/library.h"

#include "fixture.h"
#include "util/error.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace sweep::gpu {
namespace {

using device::LibraryArgument;
using expr::DType;
using ::testing::Each;
using ::testing::ElementsAre;

LibraryArgument number(std::int64_t value) {
  return {0, DType::f64, value};
}

class Libraries : public OnDevice {
 protected:
  void SetUp() override {
    // All kernels of cuBLAS at once take seconds. Without effect after the process's first test.
    ::setenv("CUDA_MODULE_LOADING", "LAZY", 1);
    OnDevice::SetUp();
  }

  // The module of a call, or a skip with the reason why there is none.
  void open(const char* function) {
    if (IsSkipped()) {
      return;
    }
    try {
      const device::LibraryInfo info = device::describe_library(function);
      RecordProperty(info.library, info.version + " " + info.path);
      module_ = on().open_library(function, info.path);
    } catch (const util::UsageError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  template <typename Value>
  LibraryArgument tensor(const std::vector<Value>& values, DType type) {
    buffers_.push_back(on().allocate(values.size() * sizeof(Value)));
    on().upload(buffers_.back()->address(), std::as_bytes(std::span(values)));
    return {buffers_.back()->address(), type, 0};
  }

  template <typename Value>
  void again(const LibraryArgument& tensor, const std::vector<Value>& values) {
    on().upload(tensor.address, std::as_bytes(std::span(values)));
  }

  std::unique_ptr<device::Sequence> call(const char* function,
                                         const std::vector<LibraryArgument>& arguments) {
    return prepare(*module_, {device::library_launch(function, arguments)});
  }

  std::vector<std::unique_ptr<device::Buffer>> buffers_;
  std::unique_ptr<device::Module> module_;
};

TEST_F(Libraries, AProductIsRowMajorAndFollowsItsInputs) {
  open("cublas.gemm");
  if (IsSkipped()) {
    return;
  }
  const auto a = tensor<float>({1, 2, 3, 4, 5, 6}, DType::f32);  // 2 x 3
  const auto b = tensor<float>({1, 0, 2, 0, 1, 1}, DType::f32);  // 3 x 2
  const auto c = tensor<float>({9, 9, 9, 9}, DType::f32);
  const auto sequence = call("cublas.gemm",
                             {a,
                              b,
                              c,
                              number(2),
                              number(2),
                              number(3),
                              number(1),
                              number(0),
                              number(0),
                              number(-1),
                              number(-1),
                              number(0)});
  ASSERT_NE(sequence, nullptr);
  again<float>(c, {-1, -1, -1, -1});
  EXPECT_GT(run(*sequence).device_seconds, 0);
  EXPECT_THAT(download<float>(c.address, 4), ElementsAre(8, 3, 20, 6));
  again<float>(a, {2, 0, 0, 0, 2, 0});
  (void)run(*sequence);
  EXPECT_THAT(download<float>(c.address, 4), ElementsAre(2, 0, 4, 0));
}

// 1 + 2^-11 is lost in TF32.
TEST_F(Libraries, ProductsKeepTheirDigitsUnlessTf32IsAskedFor) {
  open("cublas.gemm");
  if (IsSkipped()) {
    return;
  }
  constexpr std::int64_t kSide = 256;
  std::vector<float> unit(kSide * kSide, 0.0F);
  for (std::size_t i = 0; i < kSide; ++i) {
    unit[i * kSide + i] = 1;
  }
  const float fine = 1.0F + 1.0F / 2048;
  const auto a = tensor(std::vector<float>(kSide * kSide, fine), DType::f32);
  const auto b = tensor(unit, DType::f32);
  const auto c = tensor(std::vector<float>(kSide * kSide, 0.0F), DType::f32);
  const auto with = [&](std::int64_t tf32) {
    return call("cublas.gemm",
                {a,
                 b,
                 c,
                 number(kSide),
                 number(kSide),
                 number(kSide),
                 number(1),
                 number(0),
                 number(0),
                 number(-1),
                 number(-1),
                 number(tf32)});
  };
  const auto exact = with(0);
  ASSERT_NE(exact, nullptr);
  (void)run(*exact);
  EXPECT_THAT(download<float>(c.address, kSide), Each(fine));
}

TEST_F(Libraries, ASparseProductTakesAnotherPatternWithoutANewGraph) {
  open("cusparse.spmm");
  if (IsSkipped()) {
    return;
  }
  for (const std::int64_t algorithm : {0, 1, 2}) {
    const auto offsets = tensor<std::int32_t>({0, 2, 2, 3}, DType::i32);
    const auto columns = tensor<std::int32_t>({0, 1, 1}, DType::i32);
    const auto values = tensor<float>({2, 3, 4}, DType::f32);
    const auto b = tensor<float>({1, 10, 2, 20}, DType::f32);  // 2 x 2
    const auto c = tensor<float>({9, 9, 9, 9, 9, 9}, DType::f32);
    const auto sequence = call("cusparse.spmm",
                               {offsets,
                                columns,
                                values,
                                b,
                                c,
                                number(3),
                                number(2),
                                number(3),
                                number(2),
                                number(algorithm)});
    ASSERT_NE(sequence, nullptr) << algorithm;
    again<float>(c, {7, 7, 7, 7, 7, 7});
    (void)run(*sequence);
    EXPECT_THAT(download<float>(c.address, 6), ElementsAre(8, 80, 0, 0, 8, 80)) << algorithm;
    again<std::int32_t>(offsets, {0, 1, 3, 3});
    again<std::int32_t>(columns, {1, 0, 1});
    (void)run(*sequence);
    EXPECT_THAT(download<float>(c.address, 6), ElementsAre(4, 40, 11, 110, 0, 0)) << algorithm;
  }
}

TEST_F(Libraries, ATransformOfAnImpulseIsFlat) {
  open("cufft.c2c");
  if (IsSkipped()) {
    return;
  }
  std::vector<float> impulse(2 * 8 * 4, 0.0F);
  impulse[0] = 1;
  const auto x = tensor(impulse, DType::c64);
  const auto y = tensor(std::vector<float>(impulse.size(), 9.0F), DType::c64);
  const auto sequence =
      call("cufft.c2c", {x, y, number(8), number(4), number(0), number(1), number(0)});
  ASSERT_NE(sequence, nullptr);
  (void)run(*sequence);
  const auto got = download<float>(y.address, impulse.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_FLOAT_EQ(got[i], i % 2 == 0 ? 1.0F : 0.0F) << i;
  }
}

}  // namespace
}  // namespace sweep::gpu
