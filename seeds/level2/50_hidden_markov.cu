//@ problem level2/50
//@ const THREADS = 256, WARPS = THREADS / 32, TILE = 64, DEPTH = 16, NARROW = 32
//@ let count = batch*states
//@ scratch f32 pi[states], a[states, states], b[states, symbols], b_turned[symbols, states], ahead[batch, states]
//@ softmax<<<1, THREADS>>>(start, pi, 1, states)
//@ softmax<<<ceildiv(states, WARPS), THREADS>>>(move, a, states, states)
//@ softmax<<<ceildiv(states, WARPS), THREADS>>>(emit, b, states, symbols)
//@ turn<<<ceildiv(states*symbols, THREADS), THREADS>>>(b, b_turned, states, symbols)
//@ zero(loglik)
//@ begin<<<ceildiv(count, THREADS), THREADS>>>(pi, ahead, count, states)
//@ for (t = 0; t < len; ++t) {
//@   if (t > 0) predict<<<(ceildiv(batch, TILE), ceildiv(states, NARROW)), THREADS>>>(last, a, ahead, batch, states)
//@   observe<<<ceildiv(count, THREADS), THREADS>>>(ahead, b_turned, symbol, last, count, t, len, states)
//@   rescale<<<ceildiv(batch, WARPS), THREADS>>>(last, loglik, batch, states)
//@ }
#include <cmath>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// A warp for each row.
__global__ void softmax(const float* x, float* p, int rows, int width) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float top = -INFINITY, total = 0.0f;
    for (int c = lane; c < width; c += 32) top = fmaxf(top, x[(size_t)r * width + c]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int c = lane; c < width; c += 32) total += expf(x[(size_t)r * width + c] - top);
    total = warp_sum(total);
    for (int c = lane; c < width; c += 32) p[(size_t)r * width + c] = expf(x[(size_t)r * width + c] - top) / total;
}

__global__ void turn(const float* b, float* b_turned, int states, int symbols) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < states * symbols) b_turned[i] = b[(size_t)(i % states) * symbols + i / states];
}

__global__ void begin(const float* pi, float* ahead, size_t count, int states) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) ahead[i] = pi[i % states];
}

// ahead = alpha a in tiles of TILE x NARROW; a thread makes 4 x 2.
__global__ void predict(const float* alpha, const float* move, float* ahead, int batch, int states) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][NARROW];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TILE, column = blockIdx.y * NARROW;
    float sum[4][2] = {};
    for (int first = 0; first < states; first += DEPTH) {
        for (int r = ty; r < TILE; r += 16)
            a[tx][r] = row + r < batch && first + tx < states ? alpha[(size_t)(row + r) * states + first + tx] : 0.0f;
        for (int t = threadIdx.x; t < DEPTH * NARROW; t += THREADS) {
            int i = first + t / NARROW, j = column + t % NARROW;
            b[t / NARROW][t % NARROW] = i < states && j < states ? move[i * states + j] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 2; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 2; ++c) {
            int i = row + ty + 16 * r, j = column + tx + 16 * c;
            if (i < batch && j < states) ahead[(size_t)i * states + j] = sum[r][c];
        }
}

__global__ void observe(const float* ahead, const float* b_turned, const int* symbol, float* alpha, size_t count, int t, int len, int states) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) alpha[i] = ahead[i] * b_turned[(size_t)symbol[i / states * len + t] * states + i % states];
}

// A warp for each sequence.
__global__ void rescale(float* alpha, float* loglik, int batch, int states) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= batch) return;
    float sum = 0.0f;
    for (int j = lane; j < states; j += 32) sum += alpha[(size_t)row * states + j];
    sum = warp_sum(sum);
    for (int j = lane; j < states; j += 32) alpha[(size_t)row * states + j] /= sum;
    if (lane == 0) loglik[row] += logf(sum);
}
