//@ problem level3/10
//@ const THREADS = 256, GROUP = 64, MOST = 64
//@ let chunks = clamp(ceildiv(points, 4*GROUP), 1, 256), count = points*parts
//@ scratch f32 inverse[parts, dim, dim], offset_log[parts], logp[points, parts], total[parts]
//@ scratch f32 total_part[chunks, parts], mean_part[chunks, parts, dim], cov_part[chunks, parts, dim, dim]
//@ invert<<<parts, MOST>>>(cov, weight, inverse, offset_log, dim)
//@ density<<<(ceildiv(points, GROUP), parts), THREADS>>>(x, mean, inverse, offset_log, logp, points, parts, dim)
//@ softmax<<<ceildiv(points, THREADS), THREADS>>>(logp, resp, points, parts)
//@ count_parts<<<(chunks, parts), THREADS>>>(resp, total_part, points, parts)
//@ add_up<<<ceildiv(parts, THREADS), THREADS>>>(total_part, total, chunks, parts, 1e-3)
//@ shares<<<1, MOST>>>(total, new_weight, parts)
//@ mean_parts<<<(chunks, parts), THREADS>>>(x, resp, mean_part, points, parts, dim)
//@ means<<<ceildiv(parts*dim, THREADS), THREADS>>>(mean_part, total, new_mean, chunks, parts*dim, dim)
//@ cov_parts<<<(chunks, parts), THREADS>>>(x, resp, new_mean, cov_part, points, parts, dim)
//@ covs<<<ceildiv(parts*dim*dim, THREADS), THREADS>>>(cov_part, total, new_cov, chunks, parts*dim*dim, dim)
#include <cmath>

// A block for each part: Cholesky cov = L L^T, then L^-1 column by column. A thread for each row, or column.
__global__ void invert(const float* cov, const float* weight, float* inverse, float* offset_log, int dim) {
    __shared__ float l[MOST][MOST + 1];
    int i = threadIdx.x;
    const float* from = cov + (size_t)blockIdx.x * dim * dim;
    float* to = inverse + (size_t)blockIdx.x * dim * dim;
    for (int r = 0; r < dim; ++r)
        if (i < dim) l[r][i] = from[r * dim + i];
    __syncthreads();
    for (int j = 0; j < dim; ++j) {
        if (i == j) l[j][j] = sqrtf(l[j][j]);
        __syncthreads();
        if (i > j && i < dim) l[i][j] /= l[j][j];
        __syncthreads();
        if (i > j && i < dim)
            for (int c = j + 1; c <= i; ++c) l[i][c] -= l[i][j] * l[c][j];
        __syncthreads();
    }
    if (i < dim)
        for (int r = 0; r < dim; ++r) {
            float rest = r == i ? 1.0f : 0.0f;
            for (int c = i; c < r; ++c) rest -= l[r][c] * to[c * dim + i];
            to[r * dim + i] = r < i ? 0.0f : rest / l[r][r];
        }
    if (i != 0) return;
    float log_root = 0.0f;
    for (int r = 0; r < dim; ++r) log_root += logf(l[r][r]);
    offset_log[blockIdx.x] = logf(weight[blockIdx.x]) - log_root;
}

// A block for GROUP points and a part: four threads share a point's rows of L^-1 (x - mean).
__global__ void density(const float* x, const float* mean, const float* inverse, const float* offset_log, float* logp, int points,
                        int parts, int dim) {
    __shared__ float v[GROUP][MOST + 1], m[MOST][MOST + 1];
    int k = blockIdx.y, first = blockIdx.x * GROUP;
    for (int t = threadIdx.x; t < GROUP * dim; t += THREADS) {
        int p = t / dim, i = t % dim;
        v[p][i] = first + p < points ? x[(size_t)(first + p) * dim + i] - mean[k * dim + i] : 0.0f;
    }
    for (int t = threadIdx.x; t < dim * dim; t += THREADS) m[t / dim][t % dim] = inverse[(size_t)k * dim * dim + t];
    __syncthreads();
    int p = threadIdx.x / 4;
    float far = 0.0f;
    for (int r = threadIdx.x % 4; r < dim; r += 4) {
        float sum = 0.0f;
        for (int c = 0; c <= r; ++c) sum += m[r][c] * v[p][c];
        far += sum * sum;
    }
    far += __shfl_xor_sync(0xffffffffu, far, 1);
    far += __shfl_xor_sync(0xffffffffu, far, 2);
    if (threadIdx.x % 4 == 0 && first + p < points) logp[(size_t)(first + p) * parts + k] = offset_log[k] - 0.5f * far;
}

__global__ void softmax(const float* logp, float* resp, int points, int parts) {
    int n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= points) return;
    const float* own = logp + (size_t)n * parts;
    float top = -INFINITY, sum = 0.0f;
    for (int k = 0; k < parts; ++k) top = fmaxf(top, own[k]);
    for (int k = 0; k < parts; ++k) sum += expf(own[k] - top);
    for (int k = 0; k < parts; ++k) resp[(size_t)n * parts + k] = expf(own[k] - top) / sum;
}

// The points of a chunk.
__device__ int first_of(int chunk, int points) { return (int)((long long)chunk * points / gridDim.x); }

__device__ float block_sum(float v) {
    __shared__ float part[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < THREADS / 32; ++i) v += part[i];
    return v;
}

__global__ void count_parts(const float* resp, float* total_part, int points, int parts) {
    float sum = 0.0f;
    for (int n = first_of(blockIdx.x, points) + threadIdx.x; n < first_of(blockIdx.x + 1, points); n += THREADS)
        sum += resp[(size_t)n * parts + blockIdx.y];
    sum = block_sum(sum);
    if (threadIdx.x == 0) total_part[blockIdx.x * parts + blockIdx.y] = sum;
}

__global__ void add_up(const float* part, float* sum, int chunks, int each, float start) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= each) return;
    float v = start;
    for (int c = 0; c < chunks; ++c) v += part[(size_t)c * each + i];
    sum[i] = v;
}

__global__ void shares(const float* total, float* new_weight, int parts) {
    float sum = 0.0f;
    for (int k = 0; k < parts; ++k) sum += total[k];
    if (threadIdx.x < parts) new_weight[threadIdx.x] = total[threadIdx.x] / sum;
}

// A thread for each component and every (THREADS / MOST)-th point of a chunk.
__global__ void mean_parts(const float* x, const float* resp, float* mean_part, int points, int parts, int dim) {
    __shared__ float part[THREADS / MOST][MOST];
    int i = threadIdx.x % MOST, lane = threadIdx.x / MOST, k = blockIdx.y;
    float sum = 0.0f;
    if (i < dim)
        for (int n = first_of(blockIdx.x, points) + lane; n < first_of(blockIdx.x + 1, points); n += THREADS / MOST)
            sum += resp[(size_t)n * parts + k] * x[(size_t)n * dim + i];
    part[lane][i] = sum;
    __syncthreads();
    if (lane > 0 || i >= dim) return;
    for (int r = 1; r < THREADS / MOST; ++r) sum += part[r][i];
    mean_part[((size_t)blockIdx.x * parts + k) * dim + i] = sum;
}

__global__ void means(const float* mean_part, const float* total, float* new_mean, int chunks, int each, int dim) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= each) return;
    float sum = 0.0f;
    for (int c = 0; c < chunks; ++c) sum += mean_part[(size_t)c * each + i];
    new_mean[i] = sum / total[i / dim];
}

// Sums of outer products over a chunk, GROUP points a round; a thread makes 4 x 4 of the matrix.
__global__ void cov_parts(const float* x, const float* resp, const float* new_mean, float* cov_part, int points, int parts, int dim) {
    __shared__ float v[GROUP][MOST + 1], share[GROUP];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, k = blockIdx.y, end = first_of(blockIdx.x + 1, points);
    float sum[4][4] = {};
    for (int first = first_of(blockIdx.x, points); first < end; first += GROUP) {
        for (int t = threadIdx.x; t < GROUP * dim; t += THREADS) {
            int p = t / dim, i = t % dim;
            v[p][i] = first + p < end ? x[(size_t)(first + p) * dim + i] - new_mean[k * dim + i] : 0.0f;
        }
        if (threadIdx.x < GROUP) share[threadIdx.x] = first + threadIdx.x < end ? resp[(size_t)(first + threadIdx.x) * parts + k] : 0.0f;
        __syncthreads();
        for (int p = 0; p < GROUP; ++p)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c)
                    if (ty + 16 * r < dim && tx + 16 * c < dim) sum[r][c] += share[p] * v[p][ty + 16 * r] * v[p][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int i = ty + 16 * r, j = tx + 16 * c;
            if (i < dim && j < dim) cov_part[(((size_t)blockIdx.x * parts + k) * dim + i) * dim + j] = sum[r][c];
        }
}

__global__ void covs(const float* cov_part, const float* total, float* new_cov, int chunks, int each, int dim) {
    int at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= each) return;
    float sum = 0.0f;
    for (int c = 0; c < chunks; ++c) sum += cov_part[(size_t)c * each + at];
    new_cov[at] = sum / total[at / dim / dim] + (at / dim % dim == at % dim ? 1e-4f : 0.0f);
}
