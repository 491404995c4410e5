#include "../support/every_run.h"
#include "compile/compiler.h"
#include "device/device.h"
#include "evaluate/code.h"
#include "evaluate/peers.h"
#include "evaluate/signature.h"
#include "problem/draw.h"
#include "problem/problem.h"
#include "submission/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

// References and seeds against golden vectors that independent programs made
// (tests/oracle/README.md), on the cpu device; and all of them through NVRTC for sm_90a, which
// needs no GPU.
namespace sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path root() {
  return SWEEP_SOURCE_DIR;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Folder {
  fs::path problem;
  fs::path seed;
  std::string golden;  // "level1_3.json"

  friend void PrintTo(const Folder& folder, std::ostream* out) { *out << folder.problem; }
};

// Those of every run, or all.
std::vector<Folder> folders(bool all) {
  std::vector<Folder> out;
  for (const auto& level : fs::directory_iterator(root() / "problems")) {
    if (!level.is_directory()) {
      continue;
    }
    const std::string prefix = level.path().filename().string();
    for (const auto& entry : fs::directory_iterator(level)) {
      if (fs::exists(entry.path() / "seed.cu")) {
        continue;  // does not ship: somebody works on it here
      }
      if (!all && !test::in_every_run(entry.path())) {
        continue;
      }
      const std::string name = entry.path().filename().string();
      const bool numbered = name.find_first_not_of("0123456789") != 0;
      const std::string id = numbered ? name.substr(0, name.find('_')) : name;
      out.push_back(
          {entry.path(), root() / "seeds" / prefix / (name + ".cu"), prefix + "_" + id + ".json"});
    }
  }
  std::sort(out.begin(), out.end(), [](const Folder& a, const Folder& b) {
    return a.problem < b.problem;
  });
  return out;
}

// A protection that this machine lacks is doctor's business, not this test's.
compile::Compiler compiler() {
  compile::Options options;
  options.cache = fs::path(SWEEP_BINARY).parent_path() / "test-cache";
  options.program = SWEEP_BINARY;
  options.allow_unsandboxed = true;
  return compile::Compiler(options);
}

submission::Submission parsed(const fs::path& file) {
  return std::get<submission::Submission>(submission::parse(file.filename().string(), read(file)));
}

compile::Result compiled(compile::Compiler& with,
                         const submission::Submission& submission,
                         compile::Target target) {
  compile::Request request;
  request.file = submission.file;
  request.source = submission.source;
  request.target = std::move(target);
  request.kernels = submission::name_expressions(submission.plan);
  request.defines = submission.plan.constants;
  return with.compile(request);
}

template <typename T>
void put(const json& value, std::byte* to) {
  const T number = value.get<T>();
  std::memcpy(to, &number, sizeof number);
}

std::vector<std::byte> bytes_of(const json& values, expr::DType type) {
  std::vector<std::byte> out(values.size() * expr::size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* to = out.data() + i * expr::size_of(type);
    if (type == expr::DType::f32) {
      put<float>(values[i], to);
    } else if (type == expr::DType::i32) {
      put<std::int32_t>(values[i], to);
    } else if (type == expr::DType::i64) {
      put<std::int64_t>(values[i], to);
    } else if (type == expr::DType::i8) {
      put<std::int8_t>(values[i], to);
    } else if (type == expr::DType::u32) {
      put<std::uint32_t>(values[i], to);
    } else if (type == expr::DType::u8 || type == expr::DType::boolean) {
      put<std::uint8_t>(values[i], to);
    } else if (type == expr::DType::bf16) {
      const auto pattern = std::bit_cast<std::uint32_t>(values[i].get<float>()) >> 16U;
      put<std::uint16_t>(pattern, to);
    } else {
      ADD_FAILURE() << "golden inputs of type " << expr::name(type) << " are not read yet";
    }
  }
  return out;
}

template <typename T>
double number_at(const std::vector<std::byte>& bytes, std::size_t i) {
  T value{};
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return static_cast<double>(value);
}

std::vector<double> doubles(const std::vector<std::byte>& bytes, expr::DType type) {
  std::vector<double> out(bytes.size() / expr::size_of(type));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (type == expr::DType::f64) {
      out[i] = number_at<double>(bytes, i);
    } else if (type == expr::DType::f32) {
      out[i] = number_at<float>(bytes, i);
    } else if (type == expr::DType::i32) {
      out[i] = number_at<std::int32_t>(bytes, i);
    } else if (type == expr::DType::i64) {
      out[i] = number_at<std::int64_t>(bytes, i);
    } else if (type == expr::DType::u8 || type == expr::DType::boolean) {
      out[i] = number_at<std::uint8_t>(bytes, i);
    } else if (type == expr::DType::bf16) {
      const auto upper = static_cast<std::uint32_t>(number_at<std::uint16_t>(bytes, i));
      out[i] = std::bit_cast<float>(upper << 16U);
    } else {
      ADD_FAILURE() << "golden outputs of type " << expr::name(type) << " are not read yet";
    }
  }
  return out;
}

// Runs a plan on one golden case and compares within `tolerance` * max(|expected|, rms of the
// tensor).
class Case {
 public:
  Case(const problem::Problem& problem, const json& golden, device::Device& device)
      : golden_(golden), device_(device) {
    draw_.shape = "golden";
    expr::IntEnv free;
    for (const auto& [name, value] : golden["dims"].items()) {
      free[name] = value.get<std::int64_t>();
    }
    draw_.dims = problem::complete_dims(problem, free);
    for (const auto& [name, value] : golden["scalars"].items()) {
      draw_.scalars[name] = value.is_number_integer()
                                ? problem::ScalarValue(value.get<std::int64_t>())
                                : problem::ScalarValue(value.get<double>());
    }
  }

  void run(submission::Submission plan,
           const submission::Signature& signature,
           const compile::Result& result,
           double tolerance) {
    ASSERT_EQ(result.status, compile::Result::Status::ok) << result.log;
    const evaluate::Code code = evaluate::make_code(std::move(plan), {}, signature, result);
    const submission::Submission& submission = code.submission;
    const auto expanded = evaluate::expand_for(submission, signature, draw_, 1, {}, 65536);
    ASSERT_TRUE(std::holds_alternative<submission::Expansion>(expanded));
    const auto& expansion = std::get<submission::Expansion>(expanded);
    fill(signature, expansion);
    auto loaded = device_.load(result.image);
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<device::Module>>(loaded))
        << std::get<device::Fault>(loaded).text;
    auto& module = *std::get<std::unique_ptr<device::Module>>(loaded);
    evaluate::Facts facts;
    for (const compile::CompiledKernel& kernel : result.kernels) {
      facts[kernel.name] = module.facts(kernel.name);
    }
    const auto steps = evaluate::bind_steps(code, expansion, facts, addresses_);
    ASSERT_TRUE(std::holds_alternative<std::vector<device::Step>>(steps))
        << std::get<submission::PlanError>(steps).text(submission.source);
    auto prepared = device_.prepare(module, std::get<std::vector<device::Step>>(steps));
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<device::Sequence>>(prepared));
    const auto outcome = device_.run(*std::get<std::unique_ptr<device::Sequence>>(prepared));
    ASSERT_TRUE(std::holds_alternative<device::RunTime>(outcome))
        << std::get<device::Fault>(outcome).text;
    compare(signature, tolerance);
  }

 private:
  // Vectors hold what is per rank stacked; a seed has a buffer of each rank.
  void fill(const submission::Signature& signature, const submission::Expansion& expansion) {
    for (const submission::Tensor& tensor : signature.tensors) {
      auto bytes = static_cast<std::int64_t>(expr::size_of(tensor.type));
      for (const expr::Expr& extent : tensor.shape) {
        bytes *= expr::eval_int(extent, draw_.dims, expr::Division::exact);
      }
      const auto part = static_cast<std::size_t>(bytes);
      const std::size_t parts =
          tensor.per_rank ? static_cast<std::size_t>(draw_.dims.at("ranks")) : 1;
      std::vector<std::byte> data;
      if (tensor.role == submission::Role::input && bytes > 0) {
        data = bytes_of(golden_["inputs"].at(tensor.name), tensor.type);
        ASSERT_EQ(data.size(), part * parts) << tensor.name;
      }
      first_.push_back(addresses_.size());
      parts_.push_back(parts);
      for (std::size_t i = 0; i < parts; ++i) {
        add(part);
        if (!data.empty()) {
          device_.upload(addresses_.back(), std::span(data).subspan(i * part, part));
        }
      }
    }
    for (const submission::ScratchBuffer& scratch : expansion.scratch) {
      add(static_cast<std::size_t>(scratch.bytes));
    }
    const evaluate::PeerWords tables = evaluate::peer_words(expansion, addresses_);
    if (!tables.words.empty()) {
      const auto words = std::as_bytes(std::span(tables.words));
      buffers_.push_back(device_.allocate(words.size()));
      device_.upload(buffers_.back()->address(), words);
      for (const std::size_t begin : tables.begins) {
        addresses_.push_back(buffers_.back()->address() + begin);
      }
    }
  }

  // All bits set: what a kernel forgets to write is NaN.
  void add(std::size_t bytes) {
    buffers_.push_back(device_.allocate(std::max<std::size_t>(bytes, 4)));
    sizes_.push_back(bytes);
    addresses_.push_back(buffers_.back()->address());
    device_.fill_words(addresses_.back(), std::max<std::size_t>(bytes / 4 * 4, 4), 0xffffffffU);
  }

  void compare(const submission::Signature& signature, double tolerance) {
    for (std::size_t t = 0; t < signature.tensors.size(); ++t) {
      const submission::Tensor& tensor = signature.tensors[t];
      if (tensor.role != submission::Role::output) {
        continue;
      }
      std::vector<std::byte> bytes;
      for (std::size_t i = first_[t]; i < first_[t] + parts_[t]; ++i) {
        std::vector<std::byte> part(sizes_[i]);
        device_.download(part, addresses_[i]);
        bytes.insert(bytes.end(), part.begin(), part.end());
      }
      const std::vector<double> got = doubles(bytes, tensor.type);
      const auto expected = golden_["expected"].at(tensor.name).get<std::vector<double>>();
      ASSERT_EQ(got.size(), expected.size()) << tensor.name;
      double squares = 0;
      for (const double value : expected) {
        squares += value * value;
      }
      const double rms =
          std::sqrt(squares / static_cast<double>(std::max<std::size_t>(expected.size(), 1)));
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool exact = expr::is_integer(tensor.type);
        ASSERT_LE(std::fabs(got[i] - expected[i]),
                  exact ? 0 : tolerance * std::max(std::fabs(expected[i]), rms))
            << tensor.name << "[" << i << "] is " << got[i] << ", expected " << expected[i];
      }
    }
  }

  const json& golden_;
  device::Device& device_;
  problem::Draw draw_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
  std::vector<std::size_t> sizes_;
  std::vector<device::Address> addresses_;
  std::vector<std::size_t> first_, parts_;  // buffers of each tensor
};

class Golden : public testing::TestWithParam<Folder> {};

TEST_P(Golden, ReferenceAndSeedAgreeOnTheCpu) {
  compile::Compiler with = compiler();
  const problem::Problem problem = problem::require(GetParam().problem);
  const json golden = json::parse(read(root() / "tests/golden" / GetParam().golden));
  ASSERT_EQ(golden["problem"].get<std::string>(), problem.id);
  const submission::Submission reference = parsed(GetParam().problem / "reference.cu");
  const submission::Submission seed = parsed(GetParam().seed);
  const compile::Result oracle = compiled(with, reference, {device::Kind::cpu, ""});
  const compile::Result candidate = compiled(with, seed, {device::Kind::cpu, ""});
  const auto device = device::open({device::Kind::cpu, 0});
  for (const json& one : golden["cases"]) {
    SCOPED_TRACE(one["dims"].dump());
    Case(problem, one, *device)
        .run(parsed(GetParam().problem / "reference.cu"),
             evaluate::reference_signature(problem),
             oracle,
             golden["relative_tolerance"].get<double>());
    // fp32 with a handful of operations for each element: 1e-5 is some 80 epsilon. A bf16 is off by
    // up to 2^-9 of itself.
    const double near = problem.precision == problem::Precision::bf16 ? 0x1p-8 : 1e-5;
    Case(problem, one, *device)
        .run(parsed(GetParam().seed), evaluate::candidate_signature(problem), candidate, near);
  }
}

class ForTheGpu : public testing::TestWithParam<Folder> {};

TEST_P(ForTheGpu, ReferenceAndSeedCompile) {
  compile::Compiler with = compiler();
  if (with.toolchain().nvrtc.empty()) {
    GTEST_SKIP() << with.toolchain().nvrtc_reason;
  }
  for (const fs::path& file : {GetParam().problem / "reference.cu", GetParam().seed}) {
    const compile::Result result = compiled(with, parsed(file), {device::Kind::cuda, "sm_90a"});
    EXPECT_EQ(result.status, compile::Result::Status::ok) << file << "\n" << result.log;
    for (const compile::CompiledKernel& kernel : result.kernels) {
      EXPECT_TRUE(kernel.parameters.has_value()) << kernel.name;
    }
  }
}

// The kernels that the demo's models hand in: all but the one with a mistake, which is the
// script's.
TEST(DemoKernels, CompileForTheGpuAsTheirScriptsNeed) {
  compile::Compiler with = compiler();
  if (with.toolchain().nvrtc.empty()) {
    GTEST_SKIP() << with.toolchain().nvrtc_reason;
  }
  int kernels = 0;
  for (const auto& entry : fs::directory_iterator(root() / "configs/demo/kernels")) {
    const bool broken = entry.path().stem().string().ends_with("_broken");
    const compile::Result result =
        compiled(with, parsed(entry.path()), {device::Kind::cuda, "sm_90a"});
    EXPECT_EQ(result.status,
              broken ? compile::Result::Status::compile_error : compile::Result::Status::ok)
        << entry.path() << "\n"
        << result.log;
    ++kernels;
  }
  EXPECT_EQ(kernels, 14);
}

std::string name_of(const testing::TestParamInfo<Folder>& one) {
  return one.param.problem.parent_path().filename().string() + "_" +
         one.param.problem.filename().string();
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(folders(false)), name_of);
INSTANTIATE_TEST_SUITE_P(All, ForTheGpu, testing::ValuesIn(folders(true)), name_of);

}  // namespace
}  // namespace sweep
