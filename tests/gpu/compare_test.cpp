#include "problem/compare.h"

#include "evaluate/engine.h"
#include "fixture.h"
#include "images.h"
#include "problem/device/compare.cuh"
#include "util/error.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>

namespace sweep::gpu {
namespace {

using evaluate::CompareJob;
using evaluate::Region;
using problem::Comparison;

// One output type under one rule.
struct Rule {
  std::string name;
  unsigned type = problem::kTypeF32;
  bool bitwise = false;
  unsigned scale = problem::kScaleRow;
  bool base = false, unless = false, otherwise = false, seed_rule = false;
  unsigned components = 1;
};

std::vector<Rule> rules() {
  using namespace problem;
  std::vector<Rule> all;
  for (const unsigned type : {kTypeF64, kTypeF32, kTypeF16, kTypeBf16, kTypeE4m3, kTypeE5m2}) {
    const std::string at = "type " + std::to_string(type);
    all.push_back({at + " row", type});
    all.push_back({at + " element", type, false, kScaleElement});
    all.push_back({at + " tensor with base", type, false, kScaleTensor, true});
    all.push_back({at + " aux scale", type, false, kScaleAux});
    all.push_back({at + " unless", type, false, kScaleRow, false, true});
    all.push_back({at + " unless else", type, false, kScaleRow, false, true, true});
    all.push_back({at + " bitwise", type, true});
    Rule seed{at + " seed rule", type};
    seed.seed_rule = true;
    all.push_back(seed);
  }
  for (const unsigned type :
       {kTypeI8, kTypeI16, kTypeI32, kTypeI64, kTypeU8, kTypeU32, kTypeU64, kTypeBool}) {
    all.push_back({"integer type " + std::to_string(type), type, true});
  }
  Rule complex{"complex f32", kTypeF32};
  complex.components = 2;
  all.push_back(complex);
  return all;
}

// Random tensors for a rule, on the host.
class Content {
 public:
  Content(const Rule& rule, std::int64_t rows, std::int64_t columns, std::uint64_t seed)
      : engine_(seed) {
    problem::CompareParameters& p = job.parameters;
    p.type = rule.type;
    p.bitwise = rule.bitwise ? 1 : 0;
    p.scale = rule.scale;
    p.components = rule.components;
    p.row_length = p.columns = columns * rule.components;
    p.count = rows * p.columns;
    p.floor = 4 * unit(rule.type);
    p.ceiling = 4096 * unit(rule.type);
    job.shape = {rows, columns};
    job.poison = 0x7e957ea2U;
    make(rule);
    if (rule.seed_rule) {
      p = problem::seed_rule(p, 16 * unit(rule.type));
      oracle = seed_values;
      seed_values.clear();
    }
  }

  CompareJob job;  // without addresses
  std::vector<std::byte> got, oracle, seed_values, base, scale, unless, otherwise;

 private:
  static double unit(unsigned type) {
    const bool real = !problem::is_integer_type(type) && type != problem::kTypeF64;
    return type == problem::kTypeF64 ? 0x1p-52
           : type == problem::kTypeF32 || !real
               ? 0x1p-23
               : std::ldexp(1.0, -problem::format_of(type).mantissa_bits);
  }

  static void put(std::vector<std::byte>& to, unsigned type, double value) {
    const auto bytes = static_cast<std::size_t>(problem::component_bytes(type));
    const std::size_t at = to.size();
    to.resize(at + bytes);
    const auto bits = problem::is_integer_type(type)
                          ? static_cast<problem::U64>(static_cast<std::int64_t>(value))
                          : problem::encode_real(value, type);
    std::memcpy(to.data() + at, &bits, bytes);
  }

  static void put_real(std::vector<std::byte>& to, double value) {
    put(to, problem::kTypeF64, value);
  }

  void make(const Rule& rule) {
    const problem::CompareParameters& p = job.parameters;
    const bool whole = problem::is_integer_type(rule.type);
    const bool flag = rule.type == problem::kTypeBool;
    std::normal_distribution<double> normal;
    const auto wrong = static_cast<std::int64_t>(engine_() % 4);
    for (std::int64_t i = 0; i < p.count; ++i) {
      const double r = flag    ? static_cast<double>(engine_() % 2)
                       : whole ? static_cast<double>(engine_() % 100)
                               : normal(engine_);
      const double noise = rule.bitwise ? 0 : 3 * unit(rule.type);
      double y = r + noise * normal(engine_);
      if (wrong > 0 &&
          engine_() % static_cast<std::uint64_t>(p.count) < static_cast<std::uint64_t>(wrong)) {
        y = whole ? (flag ? 2 : 77) : (engine_() % 3 == 0 ? std::nan("") : r + 0.5);
      }
      put(got, rule.type, y);
      whole ? put(oracle, rule.type, r) : put_real(oracle, r);
      put(seed_values, rule.type, r + noise * normal(engine_));
      if (rule.base) {
        put(base, rule.type, 0.5 * normal(engine_));
      }
      if (rule.scale == problem::kScaleAux) {
        put_real(scale, 1 + std::abs(normal(engine_)));
      }
      if (rule.otherwise) {
        put_real(otherwise, r + 0.5);
      }
    }
    if (wrong == 3) {
      // The last components were never written.
      const auto bytes = static_cast<std::size_t>(problem::component_bytes(rule.type));
      for (std::size_t k = got.size() - bytes; k < got.size(); ++k) {
        got[k] = static_cast<std::byte>(*job.poison >> (8 * (k & 3U)));
      }
    }
    if (rule.unless) {
      for (std::int64_t i = 0; i < job.shape.front(); ++i) {
        unless.push_back(static_cast<std::byte>(engine_() % 40 == 0 ? 1 : 0));
      }
    }
  }

  std::mt19937_64 engine_;
};

class Comparisons : public OnDevice {
 protected:
  Region put(const std::vector<std::byte>& bytes) {
    if (bytes.empty()) {
      return {};
    }
    kept_.push_back(on().allocate(bytes.size()));
    on().upload(kept_.back()->address(), bytes);
    return {kept_.back()->address(), bytes.size()};
  }

  CompareJob placed(const Content& content) {
    CompareJob job = content.job;
    job.got = put(content.got);
    job.oracle = put(content.oracle);
    job.seed = put(content.seed_values);
    job.base = put(content.base);
    job.scale = put(content.scale);
    job.unless = put(content.unless);
    job.otherwise = put(content.otherwise);
    return job;
  }

  std::vector<std::unique_ptr<device::Buffer>> kept_;
};

// Sums are taken in another order on the device.
void expect_near(double host, double device, const char* what) {
  if (host != device) {
    EXPECT_NEAR(host, device, 1e-9 * std::abs(host)) << what;
  }
}

void expect_same(const Comparison& host, const Comparison& device) {
  EXPECT_EQ(host.pass, device.pass);
  EXPECT_EQ(host.count, device.count);
  EXPECT_EQ(host.bad, device.bad);
  EXPECT_EQ(host.bad_rows, device.bad_rows);
  EXPECT_EQ(host.tensor_rms_bad, device.tensor_rms_bad);
  EXPECT_EQ(host.nan, device.nan);
  EXPECT_EQ(host.unwritten, device.unwritten);
  EXPECT_EQ(host.ambiguous, device.ambiguous);
  EXPECT_EQ(host.too_ambiguous, device.too_ambiguous);
  EXPECT_EQ(host.first_bad, device.first_bad);
  EXPECT_EQ(host.pattern, device.pattern);
  expect_near(host.expected, device.expected, "expected");
  EXPECT_TRUE(host.got == device.got || (std::isnan(host.got) && std::isnan(device.got)));
  expect_near(host.allowed, device.allowed, "allowed");
  expect_near(host.worst, device.worst, "worst");
  expect_near(host.worst_rms, device.worst_rms, "worst_rms");
  expect_near(host.e_max, device.e_max, "e_max");
  expect_near(host.e_rms, device.e_rms, "e_rms");
}

// Every type and every clause of the rule: the device's passes find what the host's find.
TEST_F(Comparisons, AgreeWithTheHostUnderEveryRule) {
  evaluate::Store store(on());
  const auto device = evaluate::make_device_engine(on(), store, engine_images(on().info().arch));
  const auto host = evaluate::make_host_engine(on());
  int passed = 0;
  int failed = 0;
  for (const Rule& rule : rules()) {
    for (std::uint64_t round = 0; round < 8; ++round) {
      SCOPED_TRACE(rule.name + ", round " + std::to_string(round));
      const std::int64_t rows = 1 + static_cast<std::int64_t>(round) * 37;
      const std::int64_t columns = round == 5 ? 9001 : 16 + static_cast<std::int64_t>(round) * 13;
      const Content content(rule, rows, columns, 100 * round + rule.type);
      const CompareJob job = placed(content);
      const Comparison expected = host->compare(job);
      expect_same(expected, device->compare(job));
      ++(expected.pass ? passed : failed);
      kept_.clear();
    }
  }
  EXPECT_GT(passed, 100);
  EXPECT_GT(failed, 100);
}

TEST_F(Comparisons, RefuseTensorsOfTheWrongSize) {
  evaluate::Store store(on());
  const auto device = evaluate::make_device_engine(on(), store, engine_images(on().info().arch));
  const Content content({"plain"}, 4, 16, 1);
  CompareJob job = placed(content);
  job.seed.bytes -= 4;
  EXPECT_THROW(static_cast<void>(device->compare(job)), util::UsageError);
}

}  // namespace
}  // namespace sweep::gpu
