//@ problem level3/7
//@ const THREADS = 256, T = 32
//@ let columns = tests + 1, tiles = ceildiv(points, T)
//@ scratch f32 l[batch, points, points], v[batch, points, columns]
//@ kernel_matrix<<<(batch, tiles, tiles), (T, 8)>>>(x, x, l, scale, variance, points, points, points, dim)
//@ add_noise<<<ceildiv(batch*points, THREADS), THREADS>>>(l, noise, batch*points, points)
//@ kernel_matrix<<<(batch, tiles, ceildiv(tests, T)), (T, 8)>>>(x, xs, v, scale, variance, points, tests, columns, dim)
//@ set_last<<<ceildiv(batch*points, THREADS), THREADS>>>(y, v, batch*points, columns)
//@ for (k = 0; k < tiles; ++k) {
//@   factor<<<batch, T>>>(l, points, k)
//@   panel<<<(batch, tiles - 1 - k), (T, 8)>>>(l, points, k)
//@   update<<<(batch, tiles - 1 - k, tiles - 1 - k), (T, 8)>>>(l, points, k)
//@ }
//@ solve<<<(batch, ceildiv(columns, T)), (T, 8)>>>(l, v, points, columns)
//@ means<<<(batch, ceildiv(tests, T)), (T, 8)>>>(v, mean, points, tests)
//@ variances<<<(batch, ceildiv(tests, T)), (T, 8)>>>(v, var, variance, points, tests)
#include <cmath>

// rbf(x, z) in tiles of T x T; row stride `stride`.
__global__ void kernel_matrix(const float* x, const float* z, float* out, float scale, float variance, int rows, int cols, int stride, int dim) {
    __shared__ float a[T][T + 1], b[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T, column = blockIdx.z * T;
    const float* from = x + (size_t)blockIdx.x * rows * dim;
    const float* other = z + (size_t)blockIdx.x * cols * dim;
    for (int s = ty * T + tx; s < T * dim; s += THREADS) {
        int r = s / dim, c = s % dim;
        if (row + r < rows) a[r][c] = from[(row + r) * dim + c];
        if (column + r < cols) b[r][c] = other[(column + r) * dim + c];
    }
    __syncthreads();
    float shrink = -0.5f / (scale * scale);
    for (int r = ty; r < T; r += 8) {
        float d2 = 0.0f;
        for (int c = 0; c < dim; ++c) d2 += (a[r][c] - b[tx][c]) * (a[r][c] - b[tx][c]);
        if (row + r < rows && column + tx < cols)
            out[((size_t)blockIdx.x * rows + row + r) * stride + column + tx] = variance * expf(shrink * d2);
    }
}

__global__ void add_noise(float* l, float noise, int count, int points) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) l[(size_t)i * points + i % points] += noise;
}

__global__ void set_last(const float* y, float* v, int count, int columns) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) v[(size_t)i * columns + columns - 1] = y[i];
}

// A tile of a matrix of `points`, with zeros beyond its edge, ones on the diagonal there.
__device__ void fetch(const float* m, float (*to)[T + 1], int row, int column, int points) {
    for (int r = threadIdx.y; r < T; r += blockDim.y) {
        int i = row + r, j = column + threadIdx.x;
        to[r][threadIdx.x] = i < points && j < points ? m[(size_t)i * points + j] : i == j ? 1.0f : 0.0f;
    }
}

// Cholesky of the k-th tile on the diagonal, a lane for each row.
__global__ void factor(float* l, int points, int k) {
    __shared__ float a[T][T + 1];
    float* m = l + (size_t)blockIdx.x * points * points;
    int i = threadIdx.x;
    fetch(m, a, k * T, k * T, points);
    __syncwarp();
    for (int j = 0; j < T; ++j) {
        float root = sqrtf(a[j][j]);
        __syncwarp();
        if (i == j) a[j][j] = root;
        if (i > j) a[i][j] /= root;
        __syncwarp();
        for (int c = j + 1; c <= i; ++c) a[i][c] -= a[i][j] * a[c][j];
        __syncwarp();
    }
    for (int r = 0; r < T; ++r)
        if (k * T + r < points && k * T + i < points) m[(size_t)(k * T + r) * points + k * T + i] = a[r][i];
}

// The tiles below it: each row solved against the diagonal tile, a thread for each row.
__global__ void panel(float* l, int points, int k) {
    __shared__ float d[T][T + 1], a[T][T + 1];
    float* m = l + (size_t)blockIdx.x * points * points;
    int row = (k + 1 + blockIdx.y) * T, tx = threadIdx.x;
    fetch(m, d, k * T, k * T, points);
    fetch(m, a, row, k * T, points);
    __syncthreads();
    if (threadIdx.y == 0)
        for (int j = 0; j < T; ++j) {
            float rest = a[tx][j];
            for (int c = 0; c < j; ++c) rest -= a[tx][c] * d[j][c];
            a[tx][j] = rest / d[j][j];
        }
    __syncthreads();
    for (int r = threadIdx.y; r < T; r += 8)
        if (row + r < points) m[(size_t)(row + r) * points + k * T + tx] = a[r][tx];
}

// The rest of the lower triangle loses the product of the panel with itself.
__global__ void update(float* l, int points, int k) {
    __shared__ float a[T][T + 1], b[T][T + 1];
    if (blockIdx.z > blockIdx.y) return;
    float* m = l + (size_t)blockIdx.x * points * points;
    int row = (k + 1 + blockIdx.y) * T, column = (k + 1 + blockIdx.z) * T, tx = threadIdx.x, ty = threadIdx.y;
    fetch(m, a, row, k * T, points);
    fetch(m, b, column, k * T, points);
    __syncthreads();
    float sum[4] = {};
    for (int c = 0; c < T; ++c)
        for (int q = 0; q < 4; ++q) sum[q] += a[ty + 8 * q][c] * b[tx][c];
    for (int q = 0; q < 4; ++q)
        if (row + ty + 8 * q < points && column + tx < points) m[(size_t)(row + ty + 8 * q) * points + column + tx] -= sum[q];
}

// v = L^-1 v for T columns, tile after tile of rows.
__global__ void solve(const float* l, float* v, int points, int columns) {
    __shared__ float a[T][T + 1], b[T][T + 1], rest[T][T + 1];
    const float* m = l + (size_t)blockIdx.x * points * points;
    int tx = threadIdx.x, ty = threadIdx.y, t = blockIdx.y * T + tx;
    float* own = v + (size_t)blockIdx.x * points * columns + t;
    for (int row = 0; row < points; row += T) {
        float sum[4] = {};
        for (int k = 0; k < row; k += T) {
            fetch(m, a, row, k, points);
            for (int r = ty; r < T; r += 8) b[r][tx] = t < columns ? own[(size_t)(k + r) * columns] : 0.0f;
            __syncthreads();
            for (int c = 0; c < T; ++c)
                for (int q = 0; q < 4; ++q) sum[q] += a[ty + 8 * q][c] * b[c][tx];
            __syncthreads();
        }
        fetch(m, a, row, row, points);
        for (int q = 0; q < 4; ++q) {
            int i = row + ty + 8 * q;
            rest[ty + 8 * q][tx] = (i < points && t < columns ? own[(size_t)i * columns] : 0.0f) - sum[q];
        }
        __syncthreads();
        if (ty == 0)
            for (int i = 0; i < T; ++i) {
                float value = rest[i][tx];
                for (int j = 0; j < i; ++j) value -= a[i][j] * rest[j][tx];
                rest[i][tx] = value / a[i][i];
            }
        __syncthreads();
        for (int r = ty; r < T; r += 8)
            if (row + r < points && t < columns) own[(size_t)(row + r) * columns] = rest[r][tx];
        __syncthreads();
    }
}

// Adds what the 8 rows of threads have.
__device__ float block_sum(float v) {
    __shared__ float part[8][T];
    part[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
    v = 0.0f;
    for (int r = 0; r < 8; ++r) v += part[r][threadIdx.x];
    return v;
}

__global__ void means(const float* v, float* mean, int points, int tests) {
    int t = blockIdx.y * T + threadIdx.x, columns = tests + 1;
    const float* own = v + (size_t)blockIdx.x * points * columns;
    float sum = 0.0f;
    if (t < tests)
        for (int i = threadIdx.y; i < points; i += 8) sum += own[(size_t)i * columns + t] * own[(size_t)i * columns + tests];
    sum = block_sum(sum);
    if (t < tests && threadIdx.y == 0) mean[(size_t)blockIdx.x * tests + t] = sum;
}

__global__ void variances(const float* v, float* var, float variance, int points, int tests) {
    int t = blockIdx.y * T + threadIdx.x, columns = tests + 1;
    const float* own = v + (size_t)blockIdx.x * points * columns;
    float sum = 0.0f;
    if (t < tests)
        for (int i = threadIdx.y; i < points; i += 8) sum += own[(size_t)i * columns + t] * own[(size_t)i * columns + t];
    sum = block_sum(sum);
    if (t < tests && threadIdx.y == 0) var[(size_t)blockIdx.x * tests + t] = fmaxf(variance - sum, 1e-6f);
}
