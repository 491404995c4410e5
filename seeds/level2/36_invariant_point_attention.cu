//@ problem level2/36
//@ const THREADS = 256, WARPS = THREADS / 32, ROWS = 128, COLS = 64, DEPTH = 16
//@ let places = batch*n, square = channels*channels, joined = channels + grasp, groups = batch*heads, high = ceildiv(n, ROWS), deep = ceildiv(n, COLS)
//@ let tiles = ceildiv(places, 32), wide = ceildiv(channels, COLS), asks = ceildiv(reach, COLS), tells = ceildiv(grasp, COLS)
//@ scratch f32 x[places, channels], q[places, channels], k[places, channels], v[places, channels], o[places, channels]
//@ scratch f32 a[places, reach], e[places, reach], g[places, grasp], r[places, grasp], both[places, joined]
//@ scratch f32 m[batch, heads, n, n], bias[batch, n, n, heads]
//@ layer_norm<<<ceildiv(places, WARPS), THREADS>>>(node, norm_gain, norm_bias, x, places, channels)
//@ linear<2, 8, false><<<(tiles, wide), 128>>>(x, w_qkv, b_out, q, places, channels, channels)
//@ linear<2, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, square), b_out, k, places, channels, channels)
//@ linear<2, 8, false><<<(tiles, wide), 128>>>(x, offset(w_qkv, 2*square), b_out, v, places, channels, channels)
//@ linear<2, 8, false><<<(tiles, asks), 128>>>(x, w_qp, b_out, a, places, channels, reach)
//@ linear<2, 8, false><<<(tiles, asks), 128>>>(x, w_kp, b_out, e, places, channels, reach)
//@ linear<2, 8, false><<<(tiles, tells), 128>>>(x, w_vp, b_out, g, places, channels, grasp)
//@ move<<<ceildiv(places*reach/3, THREADS), THREADS>>>(a, rot, trans, places*reach/3, reach/3)
//@ move<<<ceildiv(places*reach/3, THREADS), THREADS>>>(e, rot, trans, places*reach/3, reach/3)
//@ move<<<ceildiv(places*grasp/3, THREADS), THREADS>>>(g, rot, trans, places*grasp/3, grasp/3)
//@ logits<<<(groups, high, deep), 128>>>(q, k, m, n, n, heads, hd)
//@ linear<8, 2, false><<<(ceildiv(places*n, 128), ceildiv(heads, 16)), 128>>>(pair, w_pair, b_out, bias, places*n, edge, heads)
//@ add_bias<<<(groups, ceildiv(n*n, THREADS)), THREADS>>>(m, bias, n, heads)
//@ take_distances<<<(groups, high, deep), 128>>>(a, e, w_near, m, n, heads, 3*asked)
//@ softmax<<<ceildiv(groups*n, WARPS), THREADS>>>(m, groups*n, n)
//@ gather<2><<<(groups, ceildiv(n, 64), ceildiv(hd, 16)), 128>>>(m, v, o, n, n, heads, hd)
//@ gather<3><<<(groups, ceildiv(n, 64), ceildiv(3*told, 24)), 128>>>(m, g, r, n, n, heads, 3*told)
//@ move_back<<<ceildiv(places*grasp/3, THREADS), THREADS>>>(r, rot, trans, places*grasp/3, grasp/3)
//@ join<<<ceildiv(places*joined, THREADS), THREADS>>>(o, r, both, places*joined, channels, grasp)
//@ linear<2, 8, true><<<(tiles, wide), 128>>>(both, w_out, b_out, y, places, joined, channels)
#include <cmath>

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

// y = x w^T (+ bias) in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C, bool BIAS>
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
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c] + (BIAS ? bias[o] : 0.0f);
        }
}

// Points of a residue from its frame into space, a thread for each.
__global__ void move(float* points, const float* rot, const float* trans, size_t count, int each) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const float* r = rot + i / each * 9;
    const float* t = trans + i / each * 3;
    float x = points[i * 3], y = points[i * 3 + 1], z = points[i * 3 + 2];
    for (int c = 0; c < 3; ++c) points[i * 3 + c] = r[c * 3] * x + r[c * 3 + 1] * y + r[c * 3 + 2] * z + t[c];
}

// And back.
__global__ void move_back(float* points, const float* rot, const float* trans, size_t count, int each) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const float* r = rot + i / each * 9;
    const float* t = trans + i / each * 3;
    float x = points[i * 3] - t[0], y = points[i * 3 + 1] - t[1], z = points[i * 3 + 2] - t[2];
    for (int c = 0; c < 3; ++c) points[i * 3 + c] = r[c] * x + r[3 + c] * y + r[6 + c] * z;
}

// q k^T / sqrt(hd) of one head in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8. blockIdx.x counts
// (batch, head).
__global__ void __launch_bounds__(128, 4) logits(const float* q, const float* k, float* p, int queries, int keys, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS;
    size_t batch = blockIdx.x / heads, h = blockIdx.x % heads, step = (size_t)heads * hd;
    const float* from = q + (batch * queries * heads + h) * hd;
    const float* other = k + (batch * keys * heads + h) * hd;
    float sum[8][8] = {};
    for (int start = 0; start < hd; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, d = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < queries && d < hd ? from[(row + r) * step + d] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) b[i][c] = column + c < keys && d < hd ? other[(column + c) * step + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    float factor = 1.0f / sqrtf((float)hd);
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int s = row + ty * 8 + r, m = column + tx + 8 * c;
            if (s < queries && m < keys) p[((size_t)blockIdx.x * queries + s) * keys + m] = sum[r][c] * factor;
        }
}

// A warp for each row of logits.
__global__ void softmax(float* p, size_t rows, int keys) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    int lane = threadIdx.x % 32;
    float* at = p + row * keys;
    float top = -INFINITY, total = 0.0f;
    for (int m = lane; m < keys; m += 32) top = fmaxf(top, at[m]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int m = lane; m < keys; m += 32) total += expf(at[m] - top);
    total = warp_sum(total);
    for (int m = lane; m < keys; m += 32) at[m] = expf(at[m] - top) / total;
}

// p v of one head in tiles of 64 x 8 C, 128 threads for each; a thread makes 4 x C.
template <int C>
__global__ void gather(const float* p, const float* v, float* o, int queries, int keys, int heads, int hd) {
    __shared__ __align__(16) float a[DEPTH][64 + 4], b[DEPTH][8 * C];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * 64, column = blockIdx.z * 8 * C;
    size_t batch = blockIdx.x / heads, h = blockIdx.x % heads, step = (size_t)heads * hd;
    const float* from = v + (batch * keys * heads + h) * hd;
    float* to = o + (batch * queries * heads + h) * hd;
    float sum[4][C] = {};
    for (int start = 0; start < keys; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, m = start + i;
            for (int r = ty; r < ty + 64; r += 16)
                a[i][r] = row + r < queries && m < keys ? p[((size_t)blockIdx.x * queries + row + r) * keys + m] : 0.0f;
        }
        for (int t = threadIdx.x; t < DEPTH * 8 * C; t += 128) {
            int m = start + t / (8 * C), d = column + t % (8 * C);
            b[t / (8 * C)][t % (8 * C)] = m < keys && d < hd ? from[m * step + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty * 4 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < C; ++c) {
            int s = row + ty * 4 + r, d = column + tx + 8 * c;
            if (s < queries && d < hd) to[s * step + d] = sum[r][c];
        }
}

// m is [batch, heads, n, n], bias [batch, n, n, heads]. blockIdx.x counts (batch, head).
__global__ void add_bias(float* m, const float* bias, int n, int heads) {
    size_t edges = (size_t)n * n, at = (size_t)blockIdx.y * THREADS + threadIdx.x, b = blockIdx.x / heads, h = blockIdx.x % heads;
    if (at < edges) m[blockIdx.x * edges + at] += bias[(b * edges + at) * heads + h];
}

// The logits lose half of softplus(w_near) times the squared distances; tiles of ROWS x COLS, a thread makes 8 x 8.
__global__ void take_distances(const float* a, const float* e, const float* w_near, float* m, int n, int heads, int width) {
    __shared__ __align__(16) float from[DEPTH][ROWS + 4], to[DEPTH][COLS + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * ROWS, column = blockIdx.z * COLS, h = blockIdx.x % heads;
    size_t step = (size_t)heads * width, first = (size_t)(blockIdx.x / heads) * n * step + (size_t)h * width;
    float sum[8][8] = {};
    for (int start = 0; start < width; start += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, d = start + i;
            for (int r = ty; r < ty + ROWS; r += 16) from[i][r] = row + r < n && d < width ? a[first + (row + r) * step + d] : 0.0f;
            for (int c = ty; c < ty + COLS; c += 16) to[i][c] = column + c < n && d < width ? e[first + (column + c) * step + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) {
                    float apart = from[i][ty * 8 + r] - to[i][tx + 8 * c];
                    sum[r][c] += apart * apart;
                }
        __syncthreads();
    }
    float weight = 0.5f * (fmaxf(w_near[h], 0.0f) + log1pf(expf(-fabsf(w_near[h]))));
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 8 + r, j = column + tx + 8 * c;
            if (i < n && j < n) m[((size_t)blockIdx.x * n + i) * n + j] -= weight * sum[r][c];
        }
}

__global__ void join(const float* o, const float* r, float* both, size_t count, int first, int second) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    size_t place = i / (first + second), c = i % (first + second);
    both[i] = c < first ? o[place * first + c] : r[place * second + c - first];
}
