//@ problem level3/9
//@ const T = 16, DEPTH = 32, WIDEST = 64
//@ let tiles = ceildiv(dim, T)
//@ scratch f32 precision[batch, dim, dim], moment[batch, dim], weights[batch, dim], v[batch, dim, tests]
//@ gram<<<(batch, tiles, tiles), 64>>>(x, precision, alpha, beta, points, dim)
//@ moments<<<(batch, tiles), (T, 16)>>>(x, y, moment, beta, points, dim)
//@ factor<<<batch, WIDEST>>>(precision, dim)
//@ solve<<<batch, WIDEST>>>(precision, moment, weights, dim)
//@ predict<<<(batch, ceildiv(tests, 16)), (T, 16)>>>(xs, weights, mean, tests, dim)
//@ solve_tests<<<(batch, ceildiv(tests, WIDEST)), WIDEST>>>(xs, precision, v, tests, dim)
//@ variance<<<ceildiv(batch*tests, 128), 128>>>(v, var, beta, batch*tests, tests, dim)

// alpha I + beta x^T x in tiles of T x T; a thread makes 2 x 2.
__global__ void gram(const float* x, float* precision, float alpha, float beta, int points, int dim) {
    __shared__ float a[DEPTH][T], b[DEPTH][T];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * T, column = blockIdx.z * T;
    const float* from = x + (size_t)blockIdx.x * points * dim;
    float sum[2][2] = {};
    for (int first = 0; first < points; first += DEPTH) {
        for (int s = threadIdx.x; s < DEPTH * T; s += 64) {
            int n = first + s / T, c = s % T;
            a[s / T][c] = n < points && row + c < dim ? from[(size_t)n * dim + row + c] : 0.0f;
            b[s / T][c] = n < points && column + c < dim ? from[(size_t)n * dim + column + c] : 0.0f;
        }
        __syncthreads();
        for (int n = 0; n < DEPTH; ++n)
            for (int r = 0; r < 2; ++r)
                for (int c = 0; c < 2; ++c) sum[r][c] += a[n][ty + 8 * r] * b[n][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 2; ++c) {
            int i = row + ty + 8 * r, j = column + tx + 8 * c;
            if (i < dim && j < dim) precision[((size_t)blockIdx.x * dim + i) * dim + j] = beta * sum[r][c] + (i == j ? alpha : 0.0f);
        }
}

// beta x^T y: 16 rows of threads share the points of T columns.
__global__ void moments(const float* x, const float* y, float* moment, float beta, int points, int dim) {
    __shared__ float part[16][T];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * T + tx;
    size_t first = (size_t)blockIdx.x * points;
    float sum = 0.0f;
    if (i < dim)
        for (int n = ty; n < points; n += 16) sum += x[(first + n) * dim + i] * y[first + n];
    part[ty][tx] = sum;
    __syncthreads();
    for (int half = 8; half > 0; half /= 2) {
        if (ty < half) part[ty][tx] += part[ty + half][tx];
        __syncthreads();
    }
    if (ty == 0 && i < dim) moment[(size_t)blockIdx.x * dim + i] = beta * part[0][tx];
}

// Copies a matrix into shared memory, a row at a time.
__device__ void fetch(const float* from, float (*to)[WIDEST + 1], int dim) {
    for (int i = 0; i < dim; ++i)
        if (threadIdx.x < dim) to[i][threadIdx.x] = from[i * dim + threadIdx.x];
    __syncthreads();
}

// Cholesky of a matrix in shared memory, a thread for each row.
__global__ void factor(float* precision, int dim) {
    __shared__ float m[WIDEST][WIDEST + 1];
    float* own = precision + (size_t)blockIdx.x * dim * dim;
    int i = threadIdx.x;
    fetch(own, m, dim);
    for (int k = 0; k < dim; ++k) {
        float root = sqrtf(m[k][k]);
        __syncthreads();
        if (i == k) m[k][k] = root;
        if (i > k && i < dim) m[i][k] /= root;
        __syncthreads();
        if (i > k && i < dim)
            for (int j = k + 1; j <= i; ++j) m[i][j] -= m[i][k] * m[j][k];
        __syncthreads();
    }
    for (int r = 0; r < dim; ++r)
        if (i < dim) own[r * dim + i] = m[r][i];
}

// Forward and backward substitution for one right-hand side.
__global__ void solve(const float* precision, const float* moment, float* weights, int dim) {
    __shared__ float m[WIDEST][WIDEST + 1], w[WIDEST];
    int i = threadIdx.x;
    if (i < dim) w[i] = moment[(size_t)blockIdx.x * dim + i];
    fetch(precision + (size_t)blockIdx.x * dim * dim, m, dim);
    for (int k = 0; k < dim; ++k) {
        if (i == k) w[k] /= m[k][k];
        __syncthreads();
        if (i > k && i < dim) w[i] -= m[i][k] * w[k];
        __syncthreads();
    }
    for (int k = dim - 1; k >= 0; --k) {
        if (i == k) w[k] /= m[k][k];
        __syncthreads();
        if (i < k) w[i] -= m[k][i] * w[k];
        __syncthreads();
    }
    if (i < dim) weights[(size_t)blockIdx.x * dim + i] = w[i];
}

// T lanes share a dot product.
__global__ void predict(const float* xs, const float* weights, float* mean, int tests, int dim) {
    int t = blockIdx.y * 16 + threadIdx.y;
    size_t at = (size_t)blockIdx.x * tests + t;
    float sum = 0.0f;
    if (t < tests)
        for (int i = threadIdx.x; i < dim; i += T) sum += xs[at * dim + i] * weights[(size_t)blockIdx.x * dim + i];
    for (int step = T / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (t < tests && threadIdx.x == 0) mean[at] = sum;
}

// v = L^-1 xs, a thread for each test.
__global__ void solve_tests(const float* xs, const float* precision, float* v, int tests, int dim) {
    __shared__ float m[WIDEST][WIDEST + 1], own[WIDEST][WIDEST + 1];
    int first = blockIdx.y * WIDEST, t = threadIdx.x;
    for (int s = threadIdx.x; s < WIDEST * dim; s += WIDEST)
        if (first + s / dim < tests) own[s % dim][s / dim] = xs[((size_t)blockIdx.x * tests + first) * dim + s];
    fetch(precision + (size_t)blockIdx.x * dim * dim, m, dim);
    if (first + t >= tests) return;
    for (int i = 0; i < dim; ++i) {
        float rest = own[i][t];
        for (int j = 0; j < i; ++j) rest -= m[i][j] * own[j][t];
        own[i][t] = rest / m[i][i];
        v[((size_t)blockIdx.x * dim + i) * tests + first + t] = own[i][t];
    }
}

__global__ void variance(const float* v, float* var, float beta, int count, int tests, int dim) {
    int at = blockIdx.x * 128 + threadIdx.x;
    if (at >= count) return;
    const float* own = v + (size_t)(at / tests) * dim * tests + at % tests;
    float sum = 0.0f;
    for (int i = 0; i < dim; ++i) sum += own[(size_t)i * tests] * own[(size_t)i * tests];
    var[at] = 1.0f / beta + sum;
}
