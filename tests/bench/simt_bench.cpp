// Figures of the cpu device: kernels against the same loops with OpenMP and the same flags, and
// what a barrier costs. Prints one line a figure; asserts nothing.

#include "compile/compiler.h"
#include "compile/gxx.h"
#include "device/device.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <time.h>

namespace {

using namespace sweep;

constexpr int kSide = 2048;
constexpr int kRows = 20000;
constexpr int kColumns = 64;
constexpr int kDegree = 16;

constexpr const char* kKernels = R"(
__global__ void heat(const float* __restrict__ a, float* __restrict__ b, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  b[y * w + x] = 0.5f * a[y * w + x] + 0.125f * a[y * w + x - 1] + 0.125f * a[y * w + x + 1] +
                 0.125f * a[(y - 1) * w + x] + 0.125f * a[(y + 1) * w + x];
}
__global__ void spmm(const int* rp, const int* ci, const float* v, const float* b, float* c, int rows, int k) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || col >= k) return;
  float s = 0;
  for (int e = rp[r]; e < rp[r + 1]; ++e) s += v[e] * b[size_t(ci[e]) * k + col];
  c[size_t(r) * k + col] = s;
}
__global__ void barriers(float* o, int n) {
  float s = threadIdx.x;
  for (int i = 0; i < n; ++i) { s += 1; __syncthreads(); }
  if (s < 0) o[0] = s;
}
__global__ void shuffles(float* o, int n) {
  float s = threadIdx.x;
  for (int i = 0; i < n; ++i) s += __shfl_xor_sync(0xffffffffu, s, 1);
  if (s < 0) o[0] = s;
}
)";

constexpr const char* kLoops = R"(
#include <cstddef>
extern "C" void heat(const float* __restrict__ a, float* __restrict__ b, int w, int h) {
  #pragma omp parallel for
  for (int y = 1; y < h - 1; ++y) for (int x = 1; x < w - 1; ++x)
    b[y * w + x] = 0.5f * a[y * w + x] + 0.125f * a[y * w + x - 1] + 0.125f * a[y * w + x + 1] +
                   0.125f * a[(y - 1) * w + x] + 0.125f * a[(y + 1) * w + x];
}
extern "C" void spmm(const int* rp, const int* ci, const float* v, const float* b, float* c, int rows, int k) {
  #pragma omp parallel for schedule(dynamic, 64)
  for (int r = 0; r < rows; ++r) for (int col = 0; col < k; ++col) {
    float s = 0;
    for (int e = rp[r]; e < rp[r + 1]; ++e) s += v[e] * b[size_t(ci[e]) * k + col];
    c[size_t(r) * k + col] = s;
  }
}
)";

template <typename F>
double median(F run) {
  std::vector<double> seconds;
  for (int i = 0; i < 15; ++i) {
    seconds.push_back(run());
  }
  std::nth_element(seconds.begin(), seconds.begin() + 7, seconds.end());
  return seconds[7];
}

template <typename F>
double wall(F run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double processor_time() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

class Loops {
 public:
  Loops() : folder_("sweep-bench") {
    util::write_file_atomic(folder_.path() / "loops.cpp", kLoops);
    util::SpawnSpec spec;
    spec.argv = {"g++"};
    const auto flags = compile::gxx_flags(false);
    spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
    spec.argv.insert(
        spec.argv.end(),
        {"-fvisibility=default", "-fopenmp", "-shared", "loops.cpp", "-o", "loops.so"});
    spec.env = util::basic_environment(folder_.path());
    spec.work_folder = folder_.path();
    const auto built = util::run_program(util::find_program("g++").value(), spec);
    handle_ = dlopen((folder_.path() / "loops.so").c_str(), RTLD_NOW);
    if (handle_ == nullptr) {
      throw util::InfraError({"simt_bench", built.err, {}}, "E_BENCH");
    }
  }

  template <typename F>
  F* get(const char* name) {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }

 private:
  util::TempDir folder_;
  void* handle_ = nullptr;
};

class Bench {
 public:
  Bench() : device_(device::open({device::Kind::cpu, 0})) {
    compile::Options options;
    options.program = SWEEP_BINARY;
    compile::Compiler compiler(options);
    compile::Request request;
    request.file = "bench.cu";
    request.source = kKernels;
    request.kernels = {"heat", "spmm", "barriers", "shuffles"};
    options.use_cache = false;
    compile::Compiler uncached(options);
    (void)uncached.compile(request);  // makes the precompiled header
    compile_seconds_ = median([&] { return wall([&] { (void)uncached.compile(request); }); });
    auto loaded = device_->load(compiler.compile(request).image);
    module_ = std::move(std::get<0>(loaded));
  }

  [[nodiscard]] double compile_seconds() const { return compile_seconds_; }

  template <typename T>
  T* make(std::size_t count) {
    buffers_.push_back(device_->allocate(count * sizeof(T)));
    return reinterpret_cast<T*>(buffers_.back()->address());
  }

  double seconds(const device::Launch& launch) {
    const std::vector<device::Step> steps = {launch};
    auto prepared = device_->prepare(*module_, steps);
    return median([&] { return std::get<0>(device_->run(*std::get<0>(prepared))).device_seconds; });
  }

  // Processor time of the whole process: other programs on the machine do not count.
  double processor_seconds(const device::Launch& launch) {
    const std::vector<device::Step> steps = {launch};
    auto prepared = device_->prepare(*module_, steps);
    return median([&] {
      const double before = processor_time();
      (void)std::get<0>(device_->run(*std::get<0>(prepared)));
      return processor_time() - before;
    });
  }

 private:
  std::unique_ptr<device::Device> device_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
  std::unique_ptr<device::Module> module_;
  double compile_seconds_ = 0;
};

void print(const char* figure, double value, const char* target) {
  std::printf("%-44s %10.3g  %s\n", figure, value, target);
}

void heat(Bench& bench, Loops& loops) {
  float* a = bench.make<float>(kSide * kSide);
  float* b = bench.make<float>(kSide * kSide);
  std::mt19937 random(1);
  std::generate(a, a + kSide * kSide, [&] { return static_cast<float>(random() % 100); });
  auto* loop = loops.get<void(const float*, float*, int, int)>("heat");
  for (const unsigned x : {32U, 256U}) {
    const device::Launch launch{"heat",
                                {kSide / x, kSide * x / 256, 1},
                                {x, 256 / x, 1},
                                0,
                                {bytes_of(a), bytes_of(b), bytes_of(kSide), bytes_of(kSide)}};
    const double ours = bench.seconds(launch);
    const double theirs = median([&] { return wall([&] { loop(a, b, kSide, kSide); }); });
    print(x == 32 ? "cpu: heat2d 32x8 blocks, share of OpenMP"
                  : "cpu: heat2d 256x1 blocks, share of OpenMP",
          theirs / ours,
          "0.25");
  }
}

void spmm(Bench& bench, Loops& loops) {
  int* rp = bench.make<int>(kRows + 1);
  int* ci = bench.make<int>(kRows * kDegree);
  float* v = bench.make<float>(kRows * kDegree);
  float* b = bench.make<float>(kRows * kColumns);
  float* c = bench.make<float>(kRows * kColumns);
  std::mt19937 random(2);
  std::generate(rp, rp + kRows + 1, [at = -kDegree]() mutable { return at += kDegree; });
  std::generate(ci, ci + kRows * kDegree, [&] { return static_cast<int>(random() % kRows); });
  std::fill(v, v + kRows * kDegree, 0.5F);
  std::generate(b, b + kRows * kColumns, [&] { return static_cast<float>(random() % 10); });
  const device::Launch launch{"spmm",
                              {kColumns / 32, kRows / 8, 1},
                              {32, 8, 1},
                              0,
                              {bytes_of(rp),
                               bytes_of(ci),
                               bytes_of(v),
                               bytes_of(b),
                               bytes_of(c),
                               bytes_of(kRows),
                               bytes_of(kColumns)}};
  const double ours = bench.seconds(launch);
  auto* loop =
      loops.get<void(const int*, const int*, const float*, const float*, float*, int, int)>("spmm");
  const double theirs =
      median([&] { return wall([&] { loop(rp, ci, v, b, c, kRows, kColumns); }); });
  print("cpu: SpMM in the same loop order, share", theirs / ours, "0.25");
}

// Nanoseconds of one processor for one thread at one barrier.
void barrier(Bench& bench, const char* kernel, const char* figure, const char* target) {
  constexpr unsigned kBlocks = 64;
  constexpr unsigned kThreads = 256;
  float* o = bench.make<float>(1);
  const auto run = [&](int n) {
    return bench.processor_seconds(
        {kernel, {kBlocks, 1, 1}, {kThreads, 1, 1}, 0, {bytes_of(o), bytes_of(n)}});
  };
  const double more = run(101) - run(1);
  print(figure, more / (100.0 * kBlocks * kThreads) * 1e9, target);
}

}  // namespace

int main() {
  try {
    Bench bench;
    Loops loops;
    print("cpu: compile a small kernel, s", bench.compile_seconds(), "1.2");
    heat(bench, loops);
    spmm(bench, loops);
    barrier(bench, "barriers", "cpu: __syncthreads, ns a thread", "150");
    barrier(bench, "shuffles", "cpu: __shfl_xor_sync, ns a thread", "150");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_simt: %s\n", error.what());
    return 3;
  }
}
