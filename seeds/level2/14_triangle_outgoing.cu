//@ problem level2/14
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let pairs = batch*n*n, wide = ceildiv(channels, 64), tiles = ceildiv(pairs, 128)
//@ scratch f32 x[pairs, channels], maps[pairs, 4, hidden], a[pairs, hidden], g[pairs, hidden]
//@ scratch f32 a_front[batch, hidden, n, n], g_front[batch, hidden, n, n], t_front[batch, hidden, n, n]
//@ scratch f32 t[pairs, hidden], t_norm[pairs, hidden], gate[pairs, channels]
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(z, norm_in_gain, norm_in_bias, x, pairs, channels)
//@ linear<8, 8><<<(tiles, ceildiv(4*hidden, 64)), 128>>>(x, w_in, b_in, maps, pairs, channels, 4*hidden)
//@ multiply<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(maps, mask, a, 0, pairs*hidden, hidden)
//@ multiply<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(maps, mask, g, 2, pairs*hidden, hidden)
//@ transpose<<<(ceildiv(n*n, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(a, a_front, n*n, hidden)
//@ transpose<<<(ceildiv(n*n, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(g, g_front, n*n, hidden)
//@ triangle<<<(batch*hidden, ceildiv(n, ROWS), ceildiv(n, COLS)), 128>>>(a_front, g_front, t_front, n)
//@ transpose_back<<<(ceildiv(n*n, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(t_front, t, n*n, hidden)
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(t, norm_out_gain, norm_out_bias, t_norm, pairs, hidden)
//@ linear<8, 8><<<(tiles, wide), 128>>>(t_norm, w_out, b_out, y, pairs, hidden, channels)
//@ linear<8, 8><<<(tiles, wide), 128>>>(z, w_gate, b_gate, gate, pairs, channels, channels)
//@ finish<<<ceildiv(pairs*channels, THREADS), THREADS>>>(y, gate, pairs*channels)
__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// A warp for each vector.
__global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int rows, int width) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* v = x + (size_t)r * width;
    float mean = 0.0f, var = 0.0f;
    for (int c = lane; c < width; c += 32) mean += v[c];
    mean = warp_sum(mean) / width;
    for (int c = lane; c < width; c += 32) var += (v[c] - mean) * (v[c] - mean);
    float factor = 1.0f / sqrtf(warp_sum(var) / width + 1e-5f);
    for (int c = lane; c < width; c += 32) y[(size_t)r * width + c] = (v[c] - mean) * factor * gain[c] + bias[c];
}

// y = x w^T + bias in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C>
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int in, int out) {
    __shared__ __align__(16) float a[DEPTH][16 * R + 4], b[DEPTH][8 * C + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * 16 * R, column = blockIdx.y * 8 * C;
    float sum[R][C] = {};
    for (int first = 0; first < in; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = first + i;
            for (int r = ty; r < ty + 16 * R; r += 16) a[i][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
            for (int c = ty; c < ty + 8 * C; c += 16) b[i][c] = column + c < out && k < in ? w[(size_t)(column + c) * in + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < R; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty * R + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            int i = row + ty * R + r, o = column + tx + 8 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + bias[o];
        }
}

// Of the four maps side by side, `first` times the sigmoid of the next one; masked.
__global__ void multiply(const float* maps, const float* mask, float* v, int first, size_t count, int hidden) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t pair = i / hidden, at = (pair * 4 + first) * hidden + i % hidden;
    v[i] = maps[at] * mask[pair] / (1.0f + expf(-maps[at + hidden]));
}

// [batch, pairs, hidden] to [batch, hidden, pairs].
__global__ void transpose(const float* from, float* to, int pairs, int hidden) {
    __shared__ float tile[32][33];
    int p = blockIdx.x * 32, h = blockIdx.y * 32, x = threadIdx.x;
    size_t first = (size_t)blockIdx.z * pairs * hidden;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + y < pairs && h + x < hidden) tile[y][x] = from[first + (size_t)(p + y) * hidden + h + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + x < pairs && h + y < hidden) to[first + (size_t)(h + y) * pairs + p + x] = tile[x][y];
}

// [batch, hidden, pairs] to [batch, pairs, hidden].
__global__ void transpose_back(const float* from, float* to, int pairs, int hidden) {
    __shared__ float tile[32][33];
    int p = blockIdx.x * 32, h = blockIdx.y * 32, x = threadIdx.x;
    size_t first = (size_t)blockIdx.z * pairs * hidden;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + x < pairs && h + y < hidden) tile[y][x] = from[first + (size_t)(h + y) * pairs + p + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (p + y < pairs && h + x < hidden) to[first + (size_t)(p + y) * hidden + h + x] = tile[x][y];
}

// t = a g^T for each matrix of n x n in tiles of ROWS x COLS; a thread makes 8 x 8.
__global__ void __launch_bounds__(128, 4) triangle(const float* a, const float* g, float* t, int n) {
    __shared__ __align__(16) float u[DEPTH][ROWS + 4], v[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    size_t first = (size_t)blockIdx.x * n * n;
    float sum[8][8] = {};
    for (int start = 0; start < n; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) u[i][r] = row + r < n && k < n ? a[first + (size_t)(row + r) * n + k] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) v[i][c] = column + c < n && k < n ? g[first + (size_t)(column + c) * n + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += u[i][ty * 8 + r] * v[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 8 + r, j = column + tx + 8 * c;
            if (i < n && j < n) t[first + (size_t)i * n + j] = sum[r][c];
        }
}

__global__ void finish(float* y, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] *= 1.0f / (1.0f + expf(-gate[i]));
}
