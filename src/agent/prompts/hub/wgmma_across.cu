// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 cp.async.bulk.tensor.2d mbarrier.try_wait
//@ problem test/gemm_bf16_nn
//@ const BM = 128, BN = 128, BK = 64, STAGES = 4
//@ tensormap ta = tile(a, box(BM, BK), swizzle(128), l2(256))
//@ tensormap tb = tile(b, box(BK, 64), swizzle(128), l2(256))
//@ gemm<<<(ceildiv(n, BN), ceildiv(m, BM)), 288, STAGES*(BM + BN)*BK*sizeof(bf16) + 1024>>>(ta, tb, c, m, n, k)
#include <cuda.h>
#include <cstdint>

constexpr uint32_t kTileA = BM*BK*2, kHalfB = BK*64*2, kStage = (BM + BN)*BK*2;  // bytes

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(barrier)) : "memory");
}

__device__ void wait_for(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  }
}

__device__ void load_tile(uint32_t to, const CUtensorMap& map, int inner, int outer, uint64_t* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(reinterpret_cast<uint64_t>(&map)), "r"(inner), "r"(outer), "r"(shared_address(barrier)) : "memory");
}

// Tiles as TMA swizzles them: lines of 64 bf16 (128 bytes), 8 of them 1024 bytes. Along k (A): lines are rows, `stride` is from
// 8 rows to the next 8. Across k (B, stored [k, n]): lines are steps of k, `stride` is from 8 of k to the next 8, and `leading`
// from 64 columns to the next 64. Units of 16 bytes; bits 62 and 63 hold 1: swizzle(128).
__device__ uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride) {
  return static_cast<uint64_t>((address & 0x3ffffu) >> 4) | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 |
         uint64_t{1} << 62;
}

// d[64][128] += A[64][16] B[16][128]. The last number, 1: B lies across k (bf16 and fp16 only).
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 1;\n}"
      :
        "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(288) gemm(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb,
                                            float* c, int m, int n, int k) {
  extern __shared__ unsigned char raw[];
  __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
  const uint32_t tiles = (shared_address(raw) + 1023) & ~1023u;  // the swizzle counts from multiples of 1024
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, top = blockIdx.y*BM, left = blockIdx.x*BN;
  const int steps = (k + BK - 1) / BK;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      init(&full[s], 1);
      init(&empty[s], 8);  // warps that multiply
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (warp == 8) {
    if (lane == 0) {
      for (int i = 0; i < steps; ++i) {
        const int s = i % STAGES;
        if (i >= STAGES) wait_for(&empty[s], (i / STAGES - 1) % 2);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(&full[s])), "r"(kStage) : "memory");
        load_tile(tiles + s*kStage, ta, i*BK, top, &full[s]);
        load_tile(tiles + s*kStage + kTileA, tb, left, i*BK, &full[s]);  // columns left .. left + 63
        load_tile(tiles + s*kStage + kTileA + kHalfB, tb, left + 64, i*BK, &full[s]);
      }
    }
    return;
  }
  const int group = warp / 4;  // of 64 rows
  float d[64] = {};
  for (int i = 0; i < steps; ++i) {
    const int s = i % STAGES;
    wait_for(&full[s], (i / STAGES) % 2);
    const uint64_t a = descriptor(tiles + s*kStage + group*(64*BK*2), 16, 1024);  // leading is not used
    const uint64_t b = descriptor(tiles + s*kStage + kTileA, kHalfB, 1024);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int j = 0; j < BK / 16; ++j) multiply(d, a + 2*j, b + 128*j);  // 16 of k: 32 bytes of A, 16 lines of B
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (float& x : d) asm volatile("" : "+f"(x) :: "memory");  // no read of the sums moves up
    if (lane == 0) arrive(&empty[s]);
  }
  const int row = top + group*64 + warp % 4*16 + lane / 4;
  for (int j = 0; j < 16; ++j) {
    for (int e = 0; e < 4; ++e) {
      const int r = row + e / 2*8, column = left + j*8 + lane % 4*2 + e % 2;
      if (r < m && column < n) c[static_cast<size_t>(r)*n + column] = d[j*4 + e];
    }
  }
}
