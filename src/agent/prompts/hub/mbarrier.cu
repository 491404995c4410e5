// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: mbarrier.try_wait.parity mbarrier.arrive.expect_tx cp.async.bulk.shared::cluster.global
//@ problem test/affine
//@ const PIECE = 512, STAGES = 4
//@ if (cols % 4 == 0) ring<<<rows, 160>>>(x, shift, y, total, cols, alpha)
//@ else plain<<<rows, 128>>>(x, shift, y, total, cols, alpha)
#include <cstdint>

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(barrier)) : "memory");
}

// One arrival, and the phase ends only after so many bytes have come as well.
__device__ void arrive_and_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Until the phase of this parity has ended. A new barrier is in phase 0: waiting for parity 1 returns at once.
__device__ void wait_for(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  }
}

// A run of bytes without a tensor map: addresses and size are multiples of 16. Its bytes count at the barrier.
__device__ void bulk_copy(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

__device__ float warp_sum(float s) {
  for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(~0u, s, step);
  return s;
}

// One block a row: warp 4 fetches pieces of it into a ring, warps 0 to 3 use them and give the buffers back.
__global__ void __launch_bounds__(160) ring(const float* x, const float* shift, float* y, float* total, int cols, float alpha) {
  __shared__ alignas(16) float piece[STAGES][PIECE];
  __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
  __shared__ float sums[4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, count = (cols + PIECE - 1) / PIECE;
  const size_t start = static_cast<size_t>(blockIdx.x)*cols;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      init(&full[s], 1);   // the producer's own arrival
      init(&empty[s], 4);  // one of each consuming warp
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // the copy engine sees them
  }
  __syncthreads();
  if (warp == 4) {
    for (int t = 0; lane == 0 && t < count; ++t) {
      const int s = t % STAGES;
      const uint32_t bytes = min(PIECE, cols - t*PIECE)*static_cast<uint32_t>(sizeof(float));
      wait_for(&empty[s], (t / STAGES + 1) % 2);  // at once in the first round
      arrive_and_expect(&full[s], bytes);
      bulk_copy(piece[s], x + start + t*PIECE, bytes, &full[s]);
    }
  } else {
    float sum = 0;
    for (int t = 0; t < count; ++t) {
      const int s = t % STAGES;
      wait_for(&full[s], t / STAGES % 2);
      for (int i = threadIdx.x; i < PIECE && t*PIECE + i < cols; i += 128) {
        const float v = alpha*piece[s][i] + shift[t*PIECE + i];
        y[start + t*PIECE + i] = v;
        sum += v;
      }
      __syncwarp();
      if (lane == 0) arrive(&empty[s]);
    }
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) total[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void plain(const float* x, const float* shift, float* y, float* total, int cols, float alpha) {
  __shared__ float sums[4];
  const size_t start = static_cast<size_t>(blockIdx.x)*cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) {
    const float v = alpha*x[start + c] + shift[c];
    y[start + c] = v;
    sum += v;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) total[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}
