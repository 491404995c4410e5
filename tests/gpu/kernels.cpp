#include "kernels.h"

#include "device/cuda/nvrtc.h"
#include "util/error.h"
#include "util/fd.h"

#include <span>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

namespace sweep::gpu {

device::Image compile(const std::string& source, const std::vector<std::string>& kernels) {
  const auto devices = device::cuda::list();
  const auto compiled = device::cuda::Nvrtc::load().compile(
      {"test.cu", source, {"-arch=" + devices.at(0).info.arch, "-std=c++17"}, kernels, {}});
  if (!compiled.ok) {
    throw std::runtime_error(compiled.error + "\n" + compiled.log);
  }
  return compiled.image;
}

void write_image(int fd, const device::Image& image) {
  std::ostringstream text;
  text << image.kernels.size() << '\n';
  for (const device::Kernel& kernel : image.kernels) {
    text << kernel.name << '\n' << kernel.lowered << '\n';
  }
  std::string all = text.str();
  const std::size_t head = all.size();
  all.resize(head + image.bytes.size());
  std::memcpy(all.data() + head, image.bytes.data(), image.bytes.size());
  util::write_all(fd, all, "image");
}

device::Image read_image(int fd) {
  if (lseek(fd, 0, SEEK_SET) != 0) {
    util::throw_errno("lseek", "image");
  }
  std::string all(std::size_t{1} << 24U, '\0');
  all.resize(util::read_all(fd, all.data(), all.size(), "image"));
  std::istringstream text(all);
  device::Image out;
  std::size_t count = 0;
  text >> count;
  text.ignore(1);
  for (std::size_t i = 0; i < count; ++i) {
    device::Kernel kernel;
    std::getline(text, kernel.name);
    std::getline(text, kernel.lowered);
    out.kernels.push_back(std::move(kernel));
  }
  const auto bytes = std::as_bytes(std::span(all)).subspan(static_cast<std::size_t>(text.tellg()));
  out.bytes.assign(bytes.begin(), bytes.end());
  return out;
}

const char* const kTouch = R"(
extern "C" __global__ void poke(char* at, unsigned* sink) { *at = 77; }
extern "C" __global__ void peek(char* at, unsigned* sink) { *sink = *static_cast<volatile char*>(at); }
)";

const char* const kFaults = R"(
extern "C" __global__ void wild(unsigned* x) { reinterpret_cast<unsigned*>(0x1000)[threadIdx.x] = *x; }
extern "C" __global__ void misaligned(char* x) { *reinterpret_cast<unsigned*>(x + 1) = 1; }
extern "C" __global__ void trap(unsigned* x) { asm volatile("trap;"); }
extern "C" __global__ void wide_shared(unsigned* x) {
  unsigned at = 0x7fffff00u, value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  *x = value;
}
extern "C" __global__ void fine(unsigned* x) { *x = 1; }
)";

const char* const kPlain = R"(
template <int N>
__global__ void __launch_bounds__(256) scale(float* x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= N;
}
extern "C" __global__ void add_one(float* x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] += 1.0f;
}
extern "C" __global__ void reverse_through_shared(float* x, int count) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) x[i] = tile[count - 1 - i];
}
struct Pair { double a; char b; };
extern "C" __global__ void tagged(char flag, Pair pair, const float* x, short tail) {}
extern "C" __global__ void nothing() {}
extern "C" __global__ void wait_ns(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}
)";

// The local variants hold their array by a pointer that the compiler cannot see through.
const char* const kGhosts = R"(
using u32 = unsigned int;
constexpr u32 kMark = 0x5eed1234u;
extern "C" __global__ void __launch_bounds__(1024, 1) leave_shared(u32 words) {
  extern __shared__ u32 tile[];
  for (u32 i = threadIdx.x; i < words; i += blockDim.x) static_cast<volatile u32*>(tile)[i] = kMark;
}
extern "C" __global__ void __launch_bounds__(1024, 1) find_shared(u32 words, u32* found) {
  extern __shared__ u32 tile[];
  u32 count = 0;
  for (u32 i = threadIdx.x; i < words; i += blockDim.x) count += static_cast<volatile u32*>(tile)[i] == kMark;
  atomicAdd(found, count);
}
template <int N> __global__ void __launch_bounds__(1024) leave_local() {
  u32 own[N];
  volatile u32* at = own;
  asm volatile("" : "+l"(at));
  for (int i = 0; i < N; ++i) at[i] = kMark;
}
template <int N> __global__ void __launch_bounds__(1024) find_local(u32* found) {
  u32 own[N];
  volatile u32* at = own;
  asm volatile("" : "+l"(at));
  u32 count = 0;
  for (int i = 0; i < N; ++i) count += at[i] == kMark;
  atomicAdd(found, count);
}
)";

}  // namespace sweep::gpu
