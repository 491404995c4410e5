// Kernels that reach what one part of a GPU can do; `sweep calibrate` times them.
#include <cstdint>


// 16 bytes a thread and step; nothing is stored unless the sum is a chosen one.
extern "C" __global__ void dram_read(const uint4* x, unsigned long long count, uint32_t* sink) {
  uint32_t sum = 0;
  const unsigned long long step = 1ull * gridDim.x * blockDim.x;
  unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 3 * step < count; i += 4 * step) {
    const uint4 a = x[i], b = x[i + step], c = x[i + 2 * step], d = x[i + 3 * step];
    sum += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) + (d.x ^ d.y ^ d.z ^ d.w);
  }
  for (; i < count; i += step) sum += x[i].x;
  if (sum == 0x9e3779b9u) *sink = sum;
}

extern "C" __global__ void dram_write(uint4* x, unsigned long long count) {
  const unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = make_uint4(1, 2, 3, 4);
}

extern "C" __global__ void dram_copy(const uint4* x, uint4* y, unsigned long long count) {
  const unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i];
}

// `passes` times over a buffer that fits L2, past L1.
extern "C" __global__ void l2_read(const uint4* x, uint32_t count, uint32_t passes, uint32_t* sink) {
  uint32_t sum = 0;
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t p = 0; p < passes; ++p) {
    for (uint32_t i = (blockIdx.x + p) % gridDim.x * blockDim.x + threadIdx.x; i < count; i += step) {
      const uint4 a = __ldcg(x + i);
      sum += a.x ^ a.y ^ a.z ^ a.w;
    }
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}

extern "C" __global__ void shared_read(uint32_t passes, uint32_t* sink) {
  __shared__ uint4 tile[1024];
  tile[threadIdx.x] = make_uint4(threadIdx.x, 1, 2, passes);
  __syncthreads();
  uint4 sum = make_uint4(0, 0, 0, 0);
  for (uint32_t p = 0; p < passes; ++p) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      uint32_t a, b, c, d;
      const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(&tile[(threadIdx.x + 32 * (p + j)) & 1023]));
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
      sum.x += a; sum.y += b; sum.z += c; sum.w += d;
    }
  }
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0x9e3779b9u) *sink = sum.x;
}

// Eight independent chains a thread, 64 operations of each a pass.
template <class T>
__device__ void chains(uint32_t passes, uint32_t* sink, T a, T b) {
  T v[8];
  for (int j = 0; j < 8; ++j) v[j] = static_cast<T>(threadIdx.x + j);
  for (uint32_t p = 0; p < passes; ++p) {
#pragma unroll
    for (int k = 0; k < 64; ++k) {
#pragma unroll
      for (int j = 0; j < 8; ++j) v[j] = v[j] * a + b;
    }
  }
  T sum = 0;
  for (int j = 0; j < 8; ++j) sum += v[j];
  if (sum == static_cast<T>(12345.5)) *sink = 1;
}

extern "C" __global__ void fp32_fma(uint32_t passes, uint32_t* sink) { chains<float>(passes, sink, 0.999f, 0.001f * passes); }
extern "C" __global__ void fp64_fma(uint32_t passes, uint32_t* sink) { chains<double>(passes, sink, 0.999, 0.001 * passes); }
extern "C" __global__ void int32_mad(uint32_t passes, uint32_t* sink) { chains<uint32_t>(passes, sink, passes | 1u, passes); }

// Warp-wide products into eight independent sums, 16 of each a pass.
#define SWEEP_MMA(NAME, INSTRUCTION, TYPE, CONSTRAINT)                                                            \
  extern "C" __global__ void NAME(uint32_t passes, uint32_t* sink) {                                              \
    TYPE d[8][4] = {};                                                                                            \
    const uint32_t a = threadIdx.x * 0x01010101u, b = passes;                                                     \
    for (uint32_t p = 0; p < passes; ++p) {                                                                       \
      _Pragma("unroll") for (int k = 0; k < 16; ++k) {                                                            \
        _Pragma("unroll") for (int j = 0; j < 8; ++j) {                                                           \
          asm volatile(INSTRUCTION " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                       : "+" CONSTRAINT(d[j][0]), "+" CONSTRAINT(d[j][1]), "+" CONSTRAINT(d[j][2]),               \
                         "+" CONSTRAINT(d[j][3])                                                                  \
                       : "r"(a), "r"(b), "r"(a), "r"(b), "r"(a), "r"(b));                                         \
        }                                                                                                         \
      }                                                                                                           \
    }                                                                                                             \
    TYPE sum = 0;                                                                                                 \
    for (int j = 0; j < 8; ++j) sum += d[j][0] + d[j][1] + d[j][2] + d[j][3];                                     \
    if (sum == static_cast<TYPE>(12345)) *sink = 1;                                                               \
  }

SWEEP_MMA(bf16_mma, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
SWEEP_MMA(fp16_mma, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", float, "f")
SWEEP_MMA(tf32_mma, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
SWEEP_MMA(int8_mma, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", int, "r")

extern "C" __global__ void nothing() {}

// Marks lines to be kept in L2, as a hostile neighbour does.
extern "C" __global__ void hoard(const uint4* x, unsigned long long count, uint32_t* sink) {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  uint32_t sum = 0;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 1ull * gridDim.x * blockDim.x) {
    uint32_t a, b, c, d;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(x + i), "l"(policy) : "memory");
    sum += a ^ b ^ c ^ d;
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}
