//@ problem ptx/gemm
//@ const BM = 128, BN = 256, BK = 64, STAGES = 3, GROUP = 8, THREADS = 256
//@ gemm<<<ceildiv(m, BM)*ceildiv(n, BN), THREADS, STAGES*(BM + BN)*BK*sizeof(bf16)>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
#include <cstdint>

#ifdef __CUDA_ARCH__

constexpr int kTileA = BM*BK*2, kStage = (BM + BN)*BK*2;  // bytes

// Where chunk `chunk` (16 bytes) of row `row` lies in a tile: rows have 8 chunks, and in eight rows below each other each stands in
// banks of its own.
__device__ uint32_t place(int row, int chunk) { return row*128 + ((chunk ^ (row & 7)) << 4); }

// Starts to copy ROWS x BK elements of x[rows, k] from (top, left) on. What lies outside becomes 0.
template <int ROWS>
__device__ void load_tile(uint32_t to, const __nv_bfloat16* x, int top, int left, int rows, int k) {
#pragma unroll
    for (int i = 0; i < ROWS*8 / THREADS; ++i) {
        int row = i*(THREADS / 8) + threadIdx.x / 8, chunk = threadIdx.x % 8;
        bool inside = (top + row < rows) & (left + chunk*8 < k);
        const __nv_bfloat16* from = x + (inside ? (size_t)(top + row)*k + left + chunk*8 : 0);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(to + place(row, chunk)), "l"(__cvta_generic_to_global(from)), "r"(inside ? 16 : 0) : "memory");
    }
}

// Four 8 x 8 matrices; each lane gives the address of one row.
__device__ void load_fragments(uint32_t (&r)[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}

// d[16][8] += a[16][16] b[8][16]^T
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A warp's 64 x 64 sums over one stage. `a` and `b`: the tiles' addresses, row, column: of the warp in them.
__device__ void multiply_stage(float (&d)[4][8][4], uint32_t a, uint32_t b, int row, int column) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < BK / 16; ++step) {
        uint32_t x[4][4], y[4][4];
        for (int i = 0; i < 4; ++i) load_fragments(x[i], a + place(row + i*16 + lane % 16, step*2 + lane / 16));
        for (int j = 0; j < 4; ++j) load_fragments(y[j], b + place(column + j*16 + lane / 16*8 + lane % 8, step*2 + lane / 8 % 2));
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 8; ++j) multiply(d[i][j], x[i], y[j / 2][j % 2*2], y[j / 2][j % 2*2 + 1]);
    }
}

// The block's tile, 128 x 256, by 2 x 4 warps. STAGES - 1 stages of BK are on their way while one is multiplied.
__device__ void make_tile(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, int top, int left) {
    extern __shared__ __align__(128) unsigned char raw[];
    uint32_t tiles = (uint32_t)__cvta_generic_to_shared(raw);
    int lane = threadIdx.x % 32, row = threadIdx.x / 128*64, column = threadIdx.x / 32 % 4*64, steps = (k + BK - 1) / BK;
    auto load = [&](int step) {
        uint32_t stage = tiles + step % STAGES*kStage;
        if (step < steps) {
            load_tile<BM>(stage, a, top, step*BK, m, k);
            load_tile<BN>(stage + kTileA, b, left, step*BK, n, k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float d[4][8][4] = {};
    for (int step = 0; step < STAGES - 1; ++step) load(step);
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
        __syncthreads();
        load(step + STAGES - 1);
        uint32_t stage = tiles + step % STAGES*kStage;
        multiply_stage(d, stage, stage + kTileA, row, column);
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j)
            for (int half = 0; half < 2; ++half) {
                int y = top + row + i*16 + half*8 + lane / 4, x = left + column + j*8 + lane % 4*2;
                if (y < m && x < n)
                    *(__nv_bfloat162*)(c + (size_t)y*n + x) = __floats2bfloat162_rn(d[i][j][half*2], d[i][j][half*2 + 1]);
            }
}

#else

// The cpu device has no tensor cores: the same tile, sum by sum.
__device__ void make_tile(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, int top, int left) {
    for (int e = threadIdx.x; e < BM*BN; e += THREADS) {
        int i = top + e / BN, j = left + e % BN;
        if (i >= m || j >= n) continue;
        float sum = 0.0f;
        for (int l = 0; l < k; ++l) sum += __bfloat162float(a[(size_t)i*k + l])*__bfloat162float(b[(size_t)j*k + l]);
        c[(size_t)i*n + j] = __float2bfloat16(sum);
    }
}

#endif

// Blocks that run together take GROUP rows of tiles, so that they share what they read.
__global__ void __launch_bounds__(THREADS) gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
    int rows = (m + BM - 1) / BM, columns = (n + BN - 1) / BN;
    int group = blockIdx.x / (GROUP*columns), within = blockIdx.x % (GROUP*columns), high = min(GROUP, rows - group*GROUP);
    make_tile(a, b, c, m, n, k, (group*GROUP + within % high)*BM, within / high*BN);
}
