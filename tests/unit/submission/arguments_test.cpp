#include "plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace sweep::submission {
namespace {

using testing::HasSubstr;

std::vector<std::vector<std::byte>> bound(const std::string& source, const std::string& lowered) {
  const Expansion e = expanded(source, values(4, 6));
  auto result = bind_arguments(std::get<Launch>(e.steps.at(0)),
                               parameters_of(lowered).value(),
                               gemm(),
                               e,
                               [](const BufferRef& ref) {
                                 return 1000 * (ref.buffer + 1) +
                                        static_cast<std::uint64_t>(ref.offset_bytes);
                               });
  if (auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << error->text(source);
    return {};
  }
  return std::get<0>(std::move(result));
}

PlanError unbound(const std::string& source, const std::string& lowered) {
  const Expansion e = expanded(source, values(4, 6));
  auto result = bind_arguments(std::get<Launch>(e.steps.at(0)),
                               parameters_of(lowered).value(),
                               gemm(),
                               e,
                               [](const BufferRef&) { return std::uint64_t{0}; });
  const auto* error = std::get_if<PlanError>(&result);
  return error == nullptr ? PlanError{} : *error;
}

template <typename T>
T value(const std::vector<std::byte>& bytes) {
  T out{};
  EXPECT_EQ(bytes.size(), sizeof out);
  std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof out));
  return out;
}

TEST(Parameters, ComeFromMangledNames) {
  const auto p = parameters_of("_Z4gemmILi64ELi64EEvPKfS1_Pfijbdx").value();
  ASSERT_EQ(p.size(), 8U);
  EXPECT_EQ(p[0].text, "const float*");
  EXPECT_TRUE(p[1].points_to_const);
  EXPECT_FALSE(p[2].points_to_const);
  EXPECT_EQ(p[3].text, "int");
  EXPECT_FALSE(p[4].is_signed);
  EXPECT_EQ(p[5].bytes, 1U);
  EXPECT_EQ(p[6].kind, Parameter::Kind::real);
  EXPECT_EQ(p[7].bytes, 8U);
  EXPECT_TRUE(parameters_of("_Z4nonev").value().empty());
  EXPECT_EQ(parameters_of("_Z1k6__halfPK6__half").value()[1].text, "const __half*");
  EXPECT_EQ(parameters_of("_Z1k6Policy").value()[0].kind, Parameter::Kind::opaque);
  EXPECT_FALSE(parameters_of("gemm").has_value());
  EXPECT_FALSE(parameters_of("_Z").has_value());
  EXPECT_FALSE(parameters_of("_Z1k" + std::string(100, 'S')).has_value());
}

TEST(Arguments, TakeTheWidthOfTheParameter) {
  const auto bytes =
      bound("//@ k<<<1, 32>>>(offset(a, 2), c, m, m, alpha, 3, alpha, ids)", "_Z1kPKfPfixfdfPKv");
  ASSERT_EQ(bytes.size(), 8U);
  EXPECT_EQ(value<std::uint64_t>(bytes[0]), 1008U);
  EXPECT_EQ(value<std::uint64_t>(bytes[1]), 3000U);
  EXPECT_EQ(value<int>(bytes[2]), 4);
  EXPECT_EQ(value<long long>(bytes[3]), 4);
  EXPECT_EQ(value<float>(bytes[4]), 0.25F);
  EXPECT_EQ(value<double>(bytes[5]), 3.0);
  EXPECT_EQ(value<signed char>(bound("//@ k<<<1, 32>>>(-1)", "_Z1ka")[0]), -1);
}

TEST(Arguments, AreRefusedWithBothSidesNamed) {
  PlanError e = unbound("//@ k<<<1, 32>>>(a, c)", "_Z1kPKfPfi");
  EXPECT_EQ(e.code, "E_PLAN_ARGUMENT_COUNT");
  EXPECT_THAT(e.text(""), HasSubstr("k takes 3 arguments, plan passes 2; missing the last, 'int'"));
  e = unbound("//@ k<<<1, 32>>>(a)", "_Z1kPf");
  EXPECT_EQ(e.code, "E_PLAN_ARGUMENT_CONST");
  EXPECT_EQ(e.column, 18);
  EXPECT_THAT(e.what, HasSubstr("argument 1 'a' is a read-only input, the kernel wants 'float*'"));
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(ids)", "_Z1kPKf").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(m)", "_Z1kPKf").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(a)", "_Z1ki").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(alpha)", "_Z1ki").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1)", "_Z1k6Policy").code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1 << 31)", "_Z1ki").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(-1)", "_Z1kj").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(2)", "_Z1kb").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1 << 25)", "_Z1kf").code, "E_PLAN_ARGUMENT_RANGE");
  EXPECT_EQ(unbound("//@ k<<<1, 32>>>(1e39)", "_Z1kf").code, "E_PLAN_ARGUMENT_RANGE");
}

TEST(Arguments, TensorMapsNeedTheirOwnParameter) {
  const std::string source =
      "//@ tensormap t = tile(view(c, [3, 8]), box(3, 8))\n//@ k<<<1, 32>>>(t)";
  for (const char* lowered : {"_Z1k14CUtensorMap_st", "_Z1k11CUtensorMap"}) {
    const auto bytes = bound(source, lowered);
    ASSERT_EQ(bytes.size(), 1U);
    EXPECT_EQ(bytes[0], std::vector<std::byte>(128));
  }
  for (const char* lowered : {"_Z1kPKf", "_Z1kPK14CUtensorMap_st", "_Z1ki", "_Z1k6Policy"}) {
    EXPECT_EQ(unbound(source, lowered).code, "E_PLAN_ARGUMENT_TYPE") << lowered;
  }
  EXPECT_THAT(unbound(source, "_Z1kPKf").text(""),
              HasSubstr("argument 1 't' is a tensor map but the kernel declares 'const float*'"));
  const PlanError e = unbound("//@ k<<<1, 32>>>(a)", "_Z1k14CUtensorMap_st");
  EXPECT_EQ(e.code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(e.next, "make a tensor map of it: tensormap t = tile(T, box(..))");
  // extern "C", or PTX: only the size is known.
  const Expansion expansion = expanded(source, values(4, 6));
  const auto by_size = [&](std::size_t size) {
    return bind_arguments(std::get<Launch>(expansion.steps.at(0)),
                          opaque_parameters({size}),
                          gemm(),
                          expansion,
                          [](const BufferRef&) { return std::uint64_t{0}; });
  };
  EXPECT_TRUE(std::holds_alternative<PlanError>(by_size(8)));
  EXPECT_EQ(std::get<0>(by_size(128))[0].size(), 128U);
}

TEST(Arguments, BindByOwnTypeWhereTheKernelHidesIts) {
  const Expansion e = expanded("//@ k<<<1, 32>>>(a, m, alpha, m, alpha)", values(4, 6));
  const auto result = bind_arguments(std::get<Launch>(e.steps.at(0)),
                                     opaque_parameters({8, 4, 4, 8, 8}),
                                     gemm(),
                                     e,
                                     [](const BufferRef&) { return std::uint64_t{77}; });
  const auto& bytes = std::get<0>(result);
  EXPECT_EQ(value<std::uint64_t>(bytes[0]), 77U);
  EXPECT_EQ(value<int>(bytes[1]), 4);
  EXPECT_EQ(value<float>(bytes[2]), 0.25F);
  EXPECT_EQ(value<long long>(bytes[3]), 4);
  EXPECT_EQ(value<double>(bytes[4]), 0.25);
}

}  // namespace
}  // namespace sweep::submission
