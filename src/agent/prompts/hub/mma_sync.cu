// expect stress: PASS_FASTER PASS_EQUIVALENT PASS_SLOWER PASS_INCONCLUSIVE
// expect ptx: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 ldmatrix.sync.aligned.m8n8.x4 cp.async.cg.shared.global
//@ problem test/gemm_bf16
//@ const BM = 64, BN = 64, BK = 64
//@ gemm<<<(ceildiv(n, BN), ceildiv(m, BM)), 128>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
#include <cstdint>

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Where 16-byte chunk `chunk` of a row of 128 bytes lies: the row's number is mixed in, so that the eight rows that
// ldmatrix reads at once lie in different banks.
__device__ uint32_t place(uint32_t tile, int row, int chunk) { return tile + row*128 + ((chunk ^ (row & 7)) << 4); }

// 64 rows of 64 bf16 by 128 threads; what lies outside the matrix becomes zero.
__device__ void load_tile(uint32_t tile, const __nv_bfloat16* from, int rows, int k, int top, int left) {
  for (int i = threadIdx.x; i < 64*8; i += 128) {
    const int row = i / 8, chunk = i % 8;
    const bool counts = top + row < rows && left + chunk*8 < k;
    const __nv_bfloat16* source = counts ? from + static_cast<size_t>(top + row)*k + left + chunk*8 : from;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(place(tile, row, chunk)), "l"(source), "r"(counts ? 16 : 0) : "memory");
  }
}

// Four 8x8 matrices of 16-bit elements; lanes 8i..8i+7 give the addresses of the rows of matrix i. Lane l gets elements
// 2(l%4) and 2(l%4)+1 of row l/4 of each.
__device__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

// d[16][8] += A[16][16] B[16][8], B given as columns. Lane l holds d[l/4][2(l%4)], its right neighbour, and both 8 rows below.
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four warps, each 32 x 32 of the block's 64 x 64.
__global__ void __launch_bounds__(128) gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k) {
  __shared__ alignas(128) unsigned char tiles[2][2][64*128];  // stage; a or b
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, top = blockIdx.y*BM, left = blockIdx.x*BN;
  const int row0 = warp % 2*32, col0 = warp / 2*32, steps = (k + BK - 1) / BK;
  auto load = [&](int i) {
    if (i < steps) {
      load_tile(shared_address(tiles[i % 2][0]), a, m, k, top, i*BK);
      load_tile(shared_address(tiles[i % 2][1]), b, n, k, left, i*BK);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float d[2][4][4] = {};
  load(0);
  for (int i = 0; i < steps; ++i) {
    load(i + 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const uint32_t ta = shared_address(tiles[i % 2][0]), tb = shared_address(tiles[i % 2][1]);
    for (int k0 = 0; k0 < BK / 8; k0 += 2) {  // 16 of k are two chunks
      uint32_t fa[2][4], fb[2][4];
      for (int j = 0; j < 2; ++j) {
        load_matrices(fa[j], place(ta, row0 + j*16 + lane % 16, k0 + lane / 16));
        load_matrices(fb[j], place(tb, col0 + j*16 + lane / 16*8 + lane % 8, k0 + lane / 8 % 2));
      }
      for (int i2 = 0; i2 < 2; ++i2)
        for (int j = 0; j < 4; ++j) multiply(d[i2][j], fa[i2], fb[j / 2][j % 2*2], fb[j / 2][j % 2*2 + 1]);
    }
    __syncthreads();  // before the next copy lands in this stage
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e) {
        const int r = top + row0 + i*16 + lane / 4 + e / 2*8, column = left + col0 + j*8 + lane % 4*2 + e % 2;
        if (r < m && column < n) c[static_cast<size_t>(r)*n + column] = d[i][j][e];
      }
}
