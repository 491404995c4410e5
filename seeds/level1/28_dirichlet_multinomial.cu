//@ problem level1/28
//@ const THREADS = 256, ROWS = 8
//@ scratch f32 alpha[categories], base[categories], term[rows, categories], whole[2], seen[rows], sum[rows]
//@ prepare_alpha<<<ceildiv(categories, THREADS), THREADS>>>(log_alpha, alpha, base, categories)
//@ add_alpha<<<1, THREADS>>>(alpha, base, whole, categories)
//@ terms<<<ceildiv(rows, ROWS), (32, ROWS)>>>(count, alpha, term, rows, categories)
//@ add_counts<<<ceildiv(rows, ROWS), (32, ROWS)>>>(count, seen, rows, categories)
//@ add_terms<<<ceildiv(rows, ROWS), (32, ROWS)>>>(term, sum, rows, categories)
//@ finish<<<ceildiv(rows, THREADS), THREADS>>>(seen, sum, whole, y, rows)
#include <cmath>

__global__ void prepare_alpha(const float* log_alpha, float* alpha, float* base, int categories) {
    int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= categories) return;
    alpha[k] = expf(log_alpha[k]);
    base[k] = lgammaf(alpha[k]);
}

// Sums of alpha and of lgamma(alpha).
__global__ void add_alpha(const float* alpha, const float* base, float* whole, int categories) {
    __shared__ float first[THREADS], second[THREADS];
    float one = 0.0f, two = 0.0f;
    for (int k = threadIdx.x; k < categories; k += THREADS) one += alpha[k], two += base[k];
    first[threadIdx.x] = one, second[threadIdx.x] = two;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) {
            first[threadIdx.x] += first[threadIdx.x + step];
            second[threadIdx.x] += second[threadIdx.x + step];
        }
    }
    if (threadIdx.x == 0) whole[0] = first[0], whole[1] = second[0];
}

// A warp for each row, as in add_counts and add_terms.
__global__ void terms(const int* count, const float* alpha, float* term, int rows, int categories) {
    int i = blockIdx.x * ROWS + threadIdx.y;
    if (i >= rows) return;
    for (int k = threadIdx.x; k < categories; k += 32)
        term[(size_t)i * categories + k] = lgammaf((float)count[(size_t)i * categories + k] + alpha[k]);
}

__global__ void add_counts(const int* count, float* seen, int rows, int categories) {
    int i = blockIdx.x * ROWS + threadIdx.y, all = 0;
    if (i >= rows) return;
    for (int k = threadIdx.x; k < categories; k += 32) all += count[(size_t)i * categories + k];
    for (int lane = 16; lane > 0; lane /= 2) all += __shfl_xor_sync(0xffffffffu, all, lane);
    if (threadIdx.x == 0) seen[i] = (float)all;
}

__global__ void add_terms(const float* term, float* sum, int rows, int categories) {
    int i = blockIdx.x * ROWS + threadIdx.y;
    if (i >= rows) return;
    float total = 0.0f;
    for (int k = threadIdx.x; k < categories; k += 32) total += term[(size_t)i * categories + k];
    for (int lane = 16; lane > 0; lane /= 2) total += __shfl_xor_sync(0xffffffffu, total, lane);
    if (threadIdx.x == 0) sum[i] = total;
}

__global__ void finish(const float* seen, const float* sum, const float* whole, float* y, int rows) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < rows) y[i] = lgammaf(whole[0]) - lgammaf(seen[i] + whole[0]) + (sum[i] - whole[1]);
}
