// The product of two bf16 matrices by warpgroups (wgmma) fed by the copy engine (TMA); the seed uses mma.sync fed by cp.async.
// Work: the same. A warp's mma.sync must bring both factors to registers through ldmatrix, which keeps tensor cores of this kind waiting;
// wgmma reads them from shared memory. Two warpgroups make 128 x 256 sums, 64 x 256 each, so a byte of shared memory feeds more products;
// one more warp only asks for copies, four stages ahead. Blocks that run together take GROUP rows of tiles and share what L2 brings.
// Expected: 1.2 to 1.5 times the seed.
//@ problem ptx/gemm
//@ const BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 8
//@ tensormap ta = tile(a, box(BM, BK), swizzle(128), l2(256))
//@ tensormap tb = tile(b, box(BN, BK), swizzle(128), l2(256))
//@ gemm<<<ceildiv(m, BM)*ceildiv(n, BN), 384, STAGES*(BM + BN)*BK*sizeof(bf16) + 1024>>>(ta, tb, c, m, n, k)
#include <cuda.h>
#include <cuda_bf16.h>
#include <cstdint>

constexpr uint32_t kTileA = BM*BK*2, kStage = (BM + BN)*BK*2;  // bytes

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(barrier)) : "memory");
}

// Until the phase of this parity has ended.
__device__ void wait_for(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  }
}

__device__ void load_tile(uint32_t to, const CUtensorMap& map, int k, int row, uint64_t* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(reinterpret_cast<uint64_t>(&map)), "r"(k), "r"(row), "r"(shared_address(barrier)) : "memory");
}

// A tile of rows of 64 bf16 (128 bytes) with the swizzle of 128 bytes: groups of 8 rows are 1,024 bytes apart.
__device__ uint64_t descriptor(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffffu) >> 4) | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

// d[64][256] += A[64][16] B[256][16]^T by the four warps of a warpgroup.
__device__ void multiply(float (&d)[128], uint64_t a, uint64_t b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 0;\n}"
      :
        "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
        "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
        "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
        "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
        "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
        "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
        "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
        "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b));
}

// By one thread: tile after tile along k into a ring of STAGES.
__device__ void feed(uint32_t tiles, const CUtensorMap& ta, const CUtensorMap& tb, uint64_t* full, uint64_t* empty, int top, int left,
                     int steps) {
  for (int i = 0; i < steps; ++i) {
    const int s = i % STAGES;
    if (i >= STAGES) wait_for(&empty[s], (i / STAGES - 1) % 2);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(&full[s])), "r"(kStage) : "memory");
    load_tile(tiles + s*kStage, ta, i*BK, top, &full[s]);
    load_tile(tiles + s*kStage + kTileA, tb, i*BK, left, &full[s]);
  }
}

// Sums of one warpgroup, 64 rows. A stage goes back once the product after it has been issued and it has itself ended.
__device__ void sum_up(float (&d)[128], uint32_t tiles, uint64_t* full, uint64_t* empty, int group, int steps) {
  const bool speaks = threadIdx.x % 32 == 0;
  for (int i = 0; i < steps; ++i) {
    const int s = i % STAGES;
    wait_for(&full[s], i / STAGES % 2);
    const uint64_t a = descriptor(tiles + s*kStage + group*(64*BK*2)), b = descriptor(tiles + s*kStage + kTileA);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int j = 0; j < BK / 16; ++j) multiply(d, a + 2*j, b + 2*j);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (i > 0 && speaks) arrive(&empty[(i - 1) % STAGES]);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(d[i]) :: "memory");  // no read of the sums moves up
}

__global__ void __launch_bounds__(384) gemm(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb,
                                            __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ unsigned char raw[];
  __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
  const uint32_t tiles = (shared_address(raw) + 1023) & ~1023u;  // the swizzle counts from multiples of 1024
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, steps = (k + BK - 1) / BK;
  const int rows = (m + BM - 1) / BM, columns = (n + BN - 1) / BN;
  const int band = blockIdx.x / (GROUP*columns), within = blockIdx.x % (GROUP*columns), high = min(GROUP, rows - band*GROUP);
  const int top = (band*GROUP + within % high)*BM, left = within / high*BN;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      init(&full[s], 1);
      init(&empty[s], 8);  // warps that multiply
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (warp >= 8) {  // a warpgroup that needs few registers leaves them to the others
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 8 && lane == 0) feed(tiles, ta, tb, full, empty, top, left, steps);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int group = warp / 4;
  float d[128] = {};
  sum_up(d, tiles, full, empty, group, steps);
  const int row = top + group*64 + warp % 4*16 + lane / 4;
#pragma unroll
  for (int j = 0; j < 32; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int r = row + e*8, column = left + j*8 + lane % 4*2;  // even, and n is a multiple of 8
      if (r < m && column < n)
        *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(r)*n + column) = __floats2bfloat162_rn(d[j*4 + e*2], d[j*4 + e*2 + 1]);
    }
}
