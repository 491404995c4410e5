// Warpgroup products (wgmma) of tiles that cp.async brings in. On the cpu device, which has neither, plain loops.
//@ problem ptx/gemm
//@ const BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 8, THREADS = 256
//@ gemm<<<ceildiv(m, BM)*ceildiv(n, BN), THREADS, STAGES*(BM + BN)*BK*sizeof(bf16) + 1024>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
#include <cstdint>

#ifdef __CUDA_ARCH__

constexpr int kTileA = BM*BK*2, kStage = (BM + BN)*BK*2;  // bytes

// Copies ROWS x BK elements of x[rows, k] from (top, left) on, swizzled: in each group of 8 rows (1024 bytes) chunk j of row r, 16
// bytes, stands at j ^ r. What lies outside becomes 0.
template <int ROWS>
__device__ void load_tile(uint32_t to, const __nv_bfloat16* x, int top, int left, int rows, int k) {
#pragma unroll
  for (int i = 0; i < ROWS*8 / THREADS; ++i) {
    const int row = i*(THREADS / 8) + threadIdx.x / 8, chunk = threadIdx.x % 8;
    const bool inside = (top + row < rows) & (left + chunk*8 < k);
    const __nv_bfloat16* from = x + (inside ? (size_t)(top + row)*k + left + chunk*8 : 0);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(to + row*128 + ((chunk ^ (row & 7)) << 4)), "l"(__cvta_generic_to_global(from)), "r"(inside ? 16 : 0)
                 : "memory");
  }
}

// A tile of rows of 128 bytes with that swizzle; groups of 8 rows are 1024 bytes apart.
__device__ uint64_t descriptor(uint32_t address) {
  return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

// d[64][128] += a[64][16] b[128][16]^T
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}"
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

// The block's tile. A warpgroup makes 64 x 256 of it. While one stage is multiplied, the next two are on their way, and the one
// before may still be read.
__device__ void make_tile(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, int top, int left) {
  extern __shared__ unsigned char raw[];
  const uint32_t tiles = ((uint32_t)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
  const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, steps = (k + BK - 1) / BK;
  auto load = [&](int step) {
    if (step < steps) {
      load_tile<BM>(tiles + step % STAGES*kStage, a, top, step*BK, m, k);
      load_tile<BN>(tiles + step % STAGES*kStage + kTileA, b, left, step*BK, n, k);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float d[2][64] = {};
  load(0);
  load(1);
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the products read past the ordinary path
    __syncthreads();
    load(step + 2);
    const uint32_t stage = tiles + step % STAGES*kStage;
    const uint64_t x = descriptor(stage + group*64*128), y = descriptor(stage + kTileA);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int j = 0; j < BK / 16; ++j) {  // 16 of k are 32 bytes, 2 units of a descriptor
      multiply(d[0], x + 2*j, y + 2*j);
      multiply(d[1], x + 2*j, y + (128*128 >> 4) + 2*j);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int half = 0; half < 2; ++half)
    for (float& x : d[half]) asm volatile("" : "+f"(x) :: "memory");  // no read of the sums moves up
  const int row = top + group*64 + warp*16 + lane / 4;
  for (int j = 0; j < 32; ++j)
    for (int lower = 0; lower < 2; ++lower) {
      const int y = row + lower*8, x = left + j*8 + lane % 4*2;
      const float* two = &d[j / 16][j % 16*4 + lower*2];
      if (y < m && x < n) *(__nv_bfloat162*)(c + (size_t)y*n + x) = __floats2bfloat162_rn(two[0], two[1]);
    }
}

#else

__device__ void make_tile(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, int top, int left) {
  for (int e = threadIdx.x; e < BM*BN; e += THREADS) {
    const int i = top + e / BN, j = left + e % BN;
    if (i >= m || j >= n) continue;
    const __nv_bfloat16 *x = a + (size_t)i*k, *y = b + (size_t)j*k;
    float sum[8] = {};  // eight sums need not wait for each other
    for (int l = 0; l < k; l += 8)
      for (int q = 0; q < 8; ++q) sum[q] += __bfloat162float(x[l + q])*__bfloat162float(y[l + q]);
    c[(size_t)i*n + j] = __float2bfloat16(((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
  }
}

#endif

// Blocks that run together take GROUP rows of tiles, so that they share what they read.
__global__ void __launch_bounds__(THREADS) gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int rows = (m + BM - 1) / BM, columns = (n + BN - 1) / BN;
  const int group = blockIdx.x / (GROUP*columns), within = blockIdx.x % (GROUP*columns), high = min(GROUP, rows - group*GROUP);
  make_tile(a, b, c, m, n, k, (group*GROUP + within % high)*BM, within / high*BN);
}
