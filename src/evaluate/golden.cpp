#include "evaluate/golden.h"

#include "evaluate/oracle.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "problem/draw.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

using expr::DType;
using nlohmann::json;

constexpr std::size_t kMostFailures = 20;

[[noreturn]] void malformed(const problem::Problem& problem, const std::string& what) {
  throw util::UsageError({problem.id + ", golden vectors", what, "make the file again"},
                         "E_GOLDEN");
}

template <class T>
void put(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Inputs are exact in their type.
std::uint16_t bf16_of(const problem::Problem& problem, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0xffffU) != 0) {
    malformed(problem, fmt::format("{} is no bf16", value));
  }
  return static_cast<std::uint16_t>(bits >> 16U);
}

void put_value(const problem::Problem& problem,
               DType type,
               const json& value,
               std::vector<std::byte>& bytes) {
  switch (type) {
    case DType::f64:
      return put(bytes, value.get<double>());
    case DType::f32:
      return put(bytes, value.get<float>());
    case DType::bf16:
      return put(bytes, bf16_of(problem, value.get<float>()));
    case DType::i64:
      return put(bytes, value.get<std::int64_t>());
    case DType::i32:
      return put(bytes, value.get<std::int32_t>());
    case DType::i16:
      return put(bytes, value.get<std::int16_t>());
    case DType::i8:
      return put(bytes, value.get<std::int8_t>());
    case DType::u64:
      return put(bytes, value.get<std::uint64_t>());
    case DType::u32:
      return put(bytes, value.get<std::uint32_t>());
    case DType::u16:
      return put(bytes, value.get<std::uint16_t>());
    case DType::u8:
      return put(bytes, value.get<std::uint8_t>());
    case DType::boolean:
      return put(bytes,
                 static_cast<std::uint8_t>(value.is_boolean() ? value.get<bool>()
                                                              : value.get<int>() != 0));
    default:
      malformed(problem, "type " + std::string(expr::name(type)) + " has no golden form");
  }
}

template <class T>
T get(const std::vector<std::byte>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

double value_at(const problem::Problem& problem,
                DType type,
                const std::vector<std::byte>& bytes,
                std::size_t index) {
  switch (type) {
    case DType::f64:
      return get<double>(bytes, index);
    case DType::i64:
      return static_cast<double>(get<std::int64_t>(bytes, index));
    case DType::i32:
      return get<std::int32_t>(bytes, index);
    case DType::i16:
      return get<std::int16_t>(bytes, index);
    case DType::i8:
      return get<std::int8_t>(bytes, index);
    case DType::u64:
      return static_cast<double>(get<std::uint64_t>(bytes, index));
    case DType::u32:
      return get<std::uint32_t>(bytes, index);
    case DType::u16:
      return get<std::uint16_t>(bytes, index);
    case DType::u8:
    case DType::boolean:
      return get<std::uint8_t>(bytes, index);
    default:
      malformed(problem, "type " + std::string(expr::name(type)) + " has no golden form");
  }
}

double expected_value(const json& value) {
  return value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>();
}

problem::Draw draw_of(const problem::Problem& problem, const json& one, std::size_t number) {
  expr::IntEnv free;
  for (const problem::Dim& dim : problem.dims) {
    if (dim.kind != problem::Dim::Kind::derived) {
      free[dim.name] = one.at("dims").at(dim.name).get<std::int64_t>();
    }
  }
  problem::Draw draw = problem::make_draw(
      problem, fmt::format("golden/{}", number), free, "default", problem::Key::from_seed(0));
  for (const auto& [name, value] : one.at("scalars").items()) {
    const bool whole =
        value.is_number_integer() && std::holds_alternative<std::int64_t>(draw.scalars[name]);
    draw.scalars[name] = whole ? problem::ScalarValue(value.get<std::int64_t>())
                               : problem::ScalarValue(value.get<double>());
  }
  return draw;
}

using HostTensors = std::map<std::string, std::vector<std::byte>, std::less<>>;

HostTensors inputs_of(const problem::Problem& problem, const problem::Draw& draw, const json& one) {
  HostTensors inputs;
  for (const auto& [name, values] : one.at("inputs").items()) {
    const problem::Tensor* tensor = problem.tensor(name);
    if (tensor == nullptr || !values.is_array()) {
      malformed(problem, "input '" + name + "' is unknown or no list");
    }
    if (static_cast<std::int64_t>(values.size()) !=
        problem::concrete(problem, *tensor, draw).count) {
      malformed(problem, "input '" + name + "' has the wrong length");
    }
    for (const json& value : values) {
      put_value(problem, tensor->type, value, inputs[name]);
    }
    (void)inputs[name];
  }
  return inputs;
}

void compare_tensor(GoldenReport& report,
                    const problem::Problem& problem,
                    std::size_t number,
                    const std::string& name,
                    const json& expected,
                    const std::vector<std::byte>& found,
                    double tolerance) {
  const DType type = problem::oracle_type(problem.tensor(name)->type);
  if (!expected.is_array() || found.size() != expected.size() * expr::size_of(type)) {
    malformed(problem, "expected '" + name + "' has the wrong length");
  }
  double squares = 0;
  for (const json& value : expected) {
    squares += expected_value(value) * expected_value(value);
  }
  const double rms =
      expected.empty() ? 0 : std::sqrt(squares / static_cast<double>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double want = expected_value(expected[i]);
    const double got = value_at(problem, type, found, i);
    const double allowed = expr::is_integer(type) ? 0 : tolerance * std::max(std::abs(want), rms);
    const bool ok = got == want || std::abs(got - want) <= allowed;
    report.worst =
        std::max(report.worst, got == want ? 0 : std::abs(got - want) / std::max(allowed, 1e-300));
    ++report.values;
    if (!ok && report.failures.size() < kMostFailures) {
      report.failures.push_back(
          fmt::format("case {}: {}[{}] = {:.17g}, expected {:.17g}", number, name, i, got, want));
    }
  }
}

}  // namespace

GoldenReport check_golden(const problem::Problem& problem,
                          const std::string& golden_json,
                          const RunReference& run,
                          device::Device& device) {
  GoldenReport report;
  try {
    const json body = json::parse(golden_json);
    if (body.at("schema") != 1 || body.at("problem") != problem.id) {
      malformed(problem, "is of another schema or problem");
    }
    for (const json& one : body.at("cases")) {
      const auto number = static_cast<std::size_t>(report.cases++);
      const problem::Draw draw = draw_of(problem, one, number);
      const Truth truth = run(inputs_of(problem, draw, one), draw);
      for (const auto& [name, expected] : one.at("expected").items()) {
        const auto found = truth.outputs.find(name);
        if (found == truth.outputs.end()) {
          malformed(problem, "'" + name + "' is no output");
        }
        compare_tensor(report,
                       problem,
                       number,
                       name,
                       expected,
                       download(device, found->second.address(), found->second.bytes()),
                       body.at("relative_tolerance").get<double>());
      }
    }
  } catch (const json::exception& error) {
    malformed(problem, error.what());
  }
  return report;
}

GoldenReport check_golden(const problem::Problem& problem,
                          const std::string& golden_json,
                          compile::Compiler& compiler,
                          device::Id id) {
  require_supported(problem);
  const std::unique_ptr<device::Device> device = device::open(id);
  const Code reference = trusted_code(compiler,
                                      {id.kind, device->info().arch},
                                      {problem.id + "/reference.cu", problem.reference.text},
                                      reference_signature(problem),
                                      true);
  Store store(*device);
  Oracle oracle(*device, store, problem, reference);
  return check_golden(
      problem,
      golden_json,
      [&](const auto& inputs, const problem::Draw& draw) { return oracle.run(inputs, draw); },
      *device);
}

}  // namespace sweep::evaluate
