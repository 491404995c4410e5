//@ problem level2/8
//@ const THREADS = 256, WARPS = THREADS / 32, TM = 64, TN = 32, TK = 16
//@ scratch f32 score[tokens, experts], top[tokens, 2]
//@ product<<<(ceildiv(tokens, TM), ceildiv(experts, TN)), THREADS>>>(state, ground, score, tokens, hidden, experts)
//@ blend<<<ceildiv(tokens*experts, THREADS), THREADS>>>(logits, score, alpha, tokens*experts)
//@ top2<<<ceildiv(tokens, WARPS), THREADS>>>(score, top, expert, tokens, experts)
//@ softmax2<<<ceildiv(tokens, THREADS), THREADS>>>(top, weight, tokens)
#include <cmath>

// score = state * ground^T in tiles of TM x TN; each thread makes 4 x 2 scores.
__global__ void product(const float* state, const float* ground, float* score, int tokens, int hidden, int experts) {
    __shared__ float a[TK][TM + 1], b[TK][TN + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TM, column = blockIdx.y * TN;
    float sum[4][2] = {};
    for (int first = 0; first < hidden; first += TK) {
        int k = first + tx;
        for (int r = ty; r < TM; r += 16) a[tx][r] = row + r < tokens && k < hidden ? state[(size_t)(row + r) * hidden + k] : 0.0f;
        for (int c = ty; c < TN; c += 16) b[tx][c] = column + c < experts && k < hidden ? ground[(size_t)(column + c) * hidden + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TK; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 2; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 2; ++c)
            if (row + ty + 16 * r < tokens && column + tx + 16 * c < experts)
                score[(size_t)(row + ty + 16 * r) * experts + column + tx + 16 * c] = sum[r][c];
}

__global__ void blend(const float* logits, float* score, float alpha, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) score[i] = logits[i] + alpha * score[i];
}

// Whether (u, i) goes before (v, j): larger score, then smaller index.
__device__ bool before(float u, int i, float v, int j) { return u > v || (u == v && i < j); }

// A warp for each token: every lane keeps its own two best, then the lanes are merged.
__global__ void top2(const float* score, float* top, int* expert, int tokens, int experts) {
    int t = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (t >= tokens) return;
    float u0 = -INFINITY, u1 = -INFINITY;
    int e0 = 1 << 30, e1 = 1 << 30;
    for (int e = lane; e < experts; e += 32) {
        float s = score[(size_t)t * experts + e];
        if (before(s, e, u0, e0)) {
            u1 = u0, e1 = e0;
            u0 = s, e0 = e;
        } else if (before(s, e, u1, e1)) {
            u1 = s, e1 = e;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        float v0 = __shfl_xor_sync(0xffffffffu, u0, step), v1 = __shfl_xor_sync(0xffffffffu, u1, step);
        int f0 = __shfl_xor_sync(0xffffffffu, e0, step), f1 = __shfl_xor_sync(0xffffffffu, e1, step);
        if (before(u0, e0, v0, f0)) {
            if (before(v0, f0, u1, e1)) u1 = v0, e1 = f0;
        } else {
            bool keep = before(u0, e0, v1, f1);
            u1 = keep ? u0 : v1, e1 = keep ? e0 : f1;
            u0 = v0, e0 = f0;
        }
    }
    if (lane < 2) {
        top[(size_t)t * 2 + lane] = lane == 0 ? u0 : u1;
        expert[(size_t)t * 2 + lane] = lane == 0 ? e0 : e1;
    }
}

__global__ void softmax2(const float* top, float* weight, int tokens) {
    int t = blockIdx.x * THREADS + threadIdx.x;
    if (t >= tokens) return;
    float ratio = expf(top[(size_t)t * 2 + 1] - top[(size_t)t * 2]);
    weight[(size_t)t * 2] = 1.0f / (1.0f + ratio);
    weight[(size_t)t * 2 + 1] = ratio / (1.0f + ratio);
}
