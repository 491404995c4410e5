//@ problem level2/14
//@ const THREADS = 256, WARPS = THREADS / 32, TILE = 64, DEPTH = 16
//@ let pairs = batch*n*n, narrow = ceildiv(hidden, TILE), wide = ceildiv(channels, TILE), tiles = ceildiv(pairs, TILE)
//@ scratch f32 x[pairs, channels], a[pairs, hidden], a_gate[pairs, hidden], g[pairs, hidden], g_gate[pairs, hidden]
//@ scratch f32 a_front[batch, hidden, n, n], g_front[batch, hidden, n, n], t_front[batch, hidden, n, n]
//@ scratch f32 t[pairs, hidden], t_norm[pairs, hidden], gate[pairs, channels]
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(z, norm_in_gain, norm_in_bias, x, pairs, channels)
//@ linear<<<(tiles, narrow), THREADS>>>(x, w_in, b_in, a, pairs, channels, hidden)
//@ linear<<<(tiles, narrow), THREADS>>>(x, offset(w_in, hidden*channels), offset(b_in, hidden), a_gate, pairs, channels, hidden)
//@ linear<<<(tiles, narrow), THREADS>>>(x, offset(w_in, 2*hidden*channels), offset(b_in, 2*hidden), g, pairs, channels, hidden)
//@ linear<<<(tiles, narrow), THREADS>>>(x, offset(w_in, 3*hidden*channels), offset(b_in, 3*hidden), g_gate, pairs, channels, hidden)
//@ multiply<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(a, a_gate, mask, pairs*hidden, hidden)
//@ multiply<<<ceildiv(pairs*hidden, THREADS), THREADS>>>(g, g_gate, mask, pairs*hidden, hidden)
//@ transpose<<<(ceildiv(n*n, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(a, a_front, n*n, hidden)
//@ transpose<<<(ceildiv(n*n, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(g, g_front, n*n, hidden)
//@ triangle<<<(batch*hidden, ceildiv(n, TILE), ceildiv(n, TILE)), THREADS>>>(a_front, g_front, t_front, n)
//@ transpose_back<<<(ceildiv(n*n, 32), ceildiv(hidden, 32), batch), (32, 8)>>>(t_front, t, n*n, hidden)
//@ layer_norm<<<ceildiv(pairs, WARPS), THREADS>>>(t, norm_out_gain, norm_out_bias, t_norm, pairs, hidden)
//@ linear<<<(tiles, wide), THREADS>>>(t_norm, w_out, b_out, y, pairs, hidden, channels)
//@ linear<<<(tiles, wide), THREADS>>>(z, w_gate, b_gate, gate, pairs, channels, channels)
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

// y = x w^T + bias in tiles of TILE x TILE; a thread makes 4 x 4.
__global__ void linear(const float* x, const float* w, const float* bias, float* y, int rows, int in, int out) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TILE, column = blockIdx.y * TILE;
    float sum[4][4] = {};
    for (int first = 0; first < in; first += DEPTH) {
        int k = first + tx;
        for (int r = ty; r < TILE; r += 16) {
            a[tx][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
            b[tx][r] = column + r < out && k < in ? w[(size_t)(column + r) * in + k] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int i = row + ty + 16 * r, o = column + tx + 16 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + bias[o];
        }
}

__global__ void multiply(float* v, const float* gate, const float* mask, size_t count, int hidden) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[i] *= mask[i / hidden] / (1.0f + expf(-gate[i]));
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

// t = a g^T for each matrix of n x n.
__global__ void triangle(const float* a, const float* g, float* t, int n) {
    __shared__ float u[DEPTH][TILE + 1], v[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * TILE, column = blockIdx.z * TILE;
    size_t first = (size_t)blockIdx.x * n * n;
    float sum[4][4] = {};
    for (int start = 0; start < n; start += DEPTH) {
        int k = start + tx;
        for (int r = ty; r < TILE; r += 16) {
            u[tx][r] = row + r < n && k < n ? a[first + (size_t)(row + r) * n + k] : 0.0f;
            v[tx][r] = column + r < n && k < n ? g[first + (size_t)(column + r) * n + k] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += u[i][ty + 16 * r] * v[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c)
            if (row + ty + 16 * r < n && column + tx + 16 * c < n)
                t[first + (size_t)(row + ty + 16 * r) * n + column + tx + 16 * c] = sum[r][c];
}

__global__ void finish(float* y, const float* gate, size_t count) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] *= 1.0f / (1.0f + expf(-gate[i]));
}
