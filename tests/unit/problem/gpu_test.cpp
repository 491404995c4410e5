#include "examples.h"
#include "group_examples.h"
#include "nvrtc.h"
#include "problem/compare.h"
#include "problem/device/compare.cuh"
#include "problem/fill.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <dlfcn.h>

// Device and host give the same: only where there is a GPU.
namespace sweep::problem {
namespace {

// The few driver calls that these tests need.
class Gpu {
 public:
  Gpu() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr || call<unsigned>("cuInit", 0U) != 0) {
      return;
    }
    int device = 0;
    void* context = nullptr;
    ready_ = call<int*, int>("cuDeviceGet", &device, 0) == 0 &&
             call<void**, int>("cuDevicePrimaryCtxRetain", &context, device) == 0 &&
             call<void*>("cuCtxSetCurrent", context) == 0;
  }

  [[nodiscard]] bool ready() const { return ready_; }

  template <typename... A>
  int call(const char* name, A... arguments) const {
    auto* const function = reinterpret_cast<int (*)(A...)>(dlsym(library_, name));
    return function == nullptr ? -1 : function(arguments...);
  }

  void* load(const std::string& cubin) const {
    void* module = nullptr;
    EXPECT_EQ((call<void**, const void*>("cuModuleLoadData", &module, cubin.data())), 0);
    return module;
  }

  unsigned long long put(const void* data, std::size_t bytes) const {
    unsigned long long address = 0;
    EXPECT_EQ((call<unsigned long long*, std::size_t>("cuMemAlloc_v2", &address, bytes + 256)), 0);
    if (data != nullptr) {
      EXPECT_EQ((call<unsigned long long, const void*, std::size_t>(
                    "cuMemcpyHtoD_v2", address, data, bytes)),
                0);
    } else {
      EXPECT_EQ((call<unsigned long long, unsigned char, std::size_t>(
                    "cuMemsetD8_v2", address, 0, bytes)),
                0);
    }
    return address;
  }

  void get(void* data, unsigned long long address, std::size_t bytes) const {
    EXPECT_EQ(
        (call<void*, unsigned long long, std::size_t>("cuMemcpyDtoH_v2", data, address, bytes)), 0);
    EXPECT_EQ((call<unsigned long long>("cuMemFree_v2", address)), 0);
  }

  void launch(void* module,
              const char* kernel,
              unsigned blocks,
              std::vector<void*> arguments,
              unsigned threads = 256) const {
    void* function = nullptr;
    EXPECT_EQ((call<void**, void*, const char*>("cuModuleGetFunction", &function, module, kernel)),
              0);
    EXPECT_EQ((call<void*,
                    unsigned,
                    unsigned,
                    unsigned,
                    unsigned,
                    unsigned,
                    unsigned,
                    unsigned,
                    void*,
                    void**,
                    void**>("cuLaunchKernel",
                            function,
                            blocks,
                            1,
                            1,
                            threads,
                            1,
                            1,
                            0,
                            nullptr,
                            arguments.data(),
                            nullptr)),
              0);
    EXPECT_EQ(call("cuCtxSynchronize"), 0);
  }

 private:
  void* library_ = nullptr;
  bool ready_ = false;
};

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!gpu_.ready() || nvrtc_.library == nullptr) {
      GTEST_SKIP() << "needs a GPU with its driver";
    }
  }

  Gpu gpu_;
  Nvrtc nvrtc_;
};

TEST_F(OnGpu, FillsHaveTheBitsOfTheHost) {
  void* const module = gpu_.load(compile(nvrtc_, fill_device_source()).cubin);
  for (const char* spec : {"f32[n] = normal()",
                           "f64[n] = normal(2, 3)",
                           "f16[n] = uniform(-1, 1)",
                           "bf16[n] = lognormal(0, 1)",
                           "f64[n] = student(3)",
                           "e4m3[n] = spikes(0.1, 50)",
                           "e5m2[n] = normal(std=100)",
                           "i8[n] = integer(-8, 7)",
                           "u64[n] = bits()",
                           "u16[n] = bits(p=0.3)",
                           "bool[n] = bits(p=0.2)",
                           "f32[n] = choice(-1, 0.5, 3)",
                           "f32[n] = lattice(10, -1, 1)",
                           "bool[n, 16] = mask(0.7, at_least=2)",
                           "i32[n] = permutation()",
                           "i32[n, 5] = distinct(1000)",
                           "f32[n, 7] = onehot()",
                           "f64[n, 9, 9] = lower(50)",
                           "f64[n, 33] = field(slope=0.7)",
                           "f64[n, 4] = jittered_lattice(count=n, side=8, jitter=0.2)",
                           "c64[n] = normal()",
                           "c128[n] = uniform(0, 1)",
                           "f64[n] = lognormal(0, 3)"}) {
    const std::string toml =
        examples::replaced(examples::replaced(examples::kHmc,
                                              "u        = \"f32[chains] = uniform(0, 1)\"",
                                              std::string("u = \"") + spec + "\""),
                           "dim    = \"free(1, 256)\"",
                           "dim    = \"free(1, 256)\"\nn = \"chains\"");
    const Problem problem = examples::problem(toml);
    const Draw draw = make_draw(
        problem, "t", {{"chains", 20011}, {"dim", 2}, {"steps", 1}}, "default", Key::from_seed(4));
    const FillPlan plan(problem, draw);
    const FilledTensor& filled = *plan.find("u");
    ASSERT_EQ(filled.way, FillWay::element) << spec;
    std::vector<std::byte> host(static_cast<std::size_t>(filled.tensor.bytes)), device(host.size());
    plan.fill(
        static_cast<std::size_t>(&filled - plan.tensors().data()), 0, filled.tensor.count, host);
    FillParameters parameters = filled.parameters;
    unsigned long long out = gpu_.put(nullptr, host.size());
    long long begin = 0, count = filled.tensor.count;
    gpu_.launch(module, "sweep_fill", 100, {&parameters, &out, &begin, &count});
    gpu_.get(device.data(), out, device.size());
    EXPECT_EQ(host, device) << spec;
  }
}

TEST_F(OnGpu, PartsOfGroupsHaveTheBitsOfTheHost) {
  void* const module = gpu_.load(compile(nvrtc_, fill_device_source()).cubin);
  for (const group_examples::Example& example : group_examples::all(9)) {
    const FillPlan plan(example.problem, example.draw);
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const ConcreteTensor& tensor = plan.tensors()[i].tensor;
      std::vector<std::byte> host(static_cast<std::size_t>(tensor.bytes)), device(host.size());
      plan.fill(i, 0, tensor.count, host);
      std::optional<GroupFill> fill = plan.on_device(i);
      ASSERT_TRUE(fill) << example.text;
      unsigned long long out = gpu_.put(nullptr, host.size()),
                         offsets = gpu_.put(fill->offsets.data(), fill->offsets.size_bytes());
      for (const GroupFill::Launch& launch : fill->launches) {
        const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(launch.blocks, 1, 500));
        gpu_.launch(
            module, launch.kernel, blocks, {&fill->parameters, &offsets, &out}, launch.threads);
      }
      gpu_.get(device.data(), out, device.size());
      std::vector<std::byte> scrap(fill->offsets.size_bytes());
      gpu_.get(scrap.data(), offsets, scrap.size());
      EXPECT_EQ(host, device) << example.text << ": " << tensor.name;
    }
  }
}

CompareResult compared_on(const Gpu& gpu,
                          void* module,
                          CompareParameters p,
                          const std::vector<float>& y,
                          const std::vector<double>& r,
                          const std::vector<float>& s) {
  const std::size_t bytes = compare_workspace_bytes(p);
  unsigned long long got = gpu.put(y.data(), y.size() * 4),
                     oracle = gpu.put(r.data(), r.size() * 8),
                     seed = gpu.put(s.data(), s.size() * 4);
  unsigned long long space = gpu.put(nullptr, bytes);
  CompareData data;
  data.got = reinterpret_cast<const void*>(got);
  data.oracle = reinterpret_cast<const void*>(oracle);
  data.seed = reinterpret_cast<const void*>(seed);
  for (const ComparePass& one : compare_passes(p)) {
    int pass = one.pass;
    const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(one.warps / 8, 1, 200));
    gpu.launch(module, one.kernel, blocks, {&p, &data, &space, &pass});
  }
  CompareResult result;
  std::vector<std::byte> head(sizeof result);
  gpu.get(head.data(), space, head.size());
  std::memcpy(&result, head.data(), sizeof result);
  std::vector<float> scrap(y.size() * 2);
  gpu.get(scrap.data(), got, 4);
  gpu.get(scrap.data(), oracle, 4);
  gpu.get(scrap.data(), seed, 4);
  return result;
}

// Sums are taken in another order on the device.
bool nearly(double a, double b) {
  return a == b || std::fabs(a - b) <= 1e-12 * std::fabs(a);
}

TEST_F(OnGpu, ComparisonsAgreeWithTheHost) {
  void* const module = gpu_.load(compile(nvrtc_, compare_device_source()).cubin);
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  int failing = 0;
  for (int round = 0; round < 60; ++round) {
    const auto columns = static_cast<std::int64_t>(16 + engine() % (round % 10 == 0 ? 20000 : 200)),
               rows = static_cast<std::int64_t>(1 + engine() % 50);
    std::vector<double> r;
    std::vector<float> y, s;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      r.push_back(normal(engine));
      y.push_back(static_cast<float>(r.back() + 4e-7 * normal(engine)));
      s.push_back(static_cast<float>(r.back() + 4e-7 * normal(engine)));
    }
    for (std::uint64_t k = engine() % 3; k > 0; --k) {
      y[engine() % y.size()] = engine() % 4 == 0 ? std::nanf("") : 0.5F;
    }
    CompareParameters p;
    p.type = kTypeF32;
    p.scale = std::array{kScaleRow, kScaleTensor, kScaleElement}[engine() % 3];
    p.count = rows * columns;
    p.row_length = p.columns = columns;
    p.floor = 4.0 / (1 << 23);
    p.ceiling = 4096.0 / (1 << 23);
    CompareInputs inputs;
    inputs.got = std::as_bytes(std::span(y));
    inputs.oracle = std::as_bytes(std::span(r));
    inputs.seed = std::as_bytes(std::span(s));
    const Comparison host = compare(p, {rows, columns}, inputs);
    const Comparison device =
        to_comparison(p, {rows, columns}, compared_on(gpu_, module, p, y, r, s));
    EXPECT_EQ(host.pass, device.pass);
    EXPECT_EQ(host.bad, device.bad);
    EXPECT_EQ(host.nan, device.nan);
    EXPECT_EQ(host.bad_rows, device.bad_rows);
    EXPECT_EQ(host.first_bad, device.first_bad);
    EXPECT_EQ(host.pattern, device.pattern);
    EXPECT_TRUE(nearly(host.worst, device.worst)) << host.worst << " " << device.worst;
    EXPECT_TRUE(nearly(host.allowed, device.allowed)) << host.allowed << " " << device.allowed;
    EXPECT_TRUE(nearly(host.e_max, device.e_max)) << host.e_max << " " << device.e_max;
    EXPECT_NEAR(host.e_rms, device.e_rms, 1e-12 * host.e_rms);
    EXPECT_NEAR(host.worst_rms, device.worst_rms, 1e-9 * host.worst_rms);
    failing += host.pass ? 0 : 1;
  }
  EXPECT_GT(failing, 10);
  EXPECT_LT(failing, 60);
}

}  // namespace
}  // namespace sweep::problem
