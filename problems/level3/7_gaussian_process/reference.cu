//@ problem level3/7
//@ let columns = tests + 1
//@ scratch f64 l[batch, points, points], v[batch, points, columns]
//@ gram<<<ceildiv(batch*points*points, 128), 128>>>(x, l, scale, variance, noise, batch*points*points, points, dim)
//@ sides<<<ceildiv(batch*points*columns, 128), 128>>>(x, xs, y, v, scale, variance, batch*points*columns, points, tests, dim)
//@ for (k = 0; k < points; ++k) {
//@   column<<<(batch, ceildiv(points - k, 128)), 128>>>(l, points, k)
//@   divide<<<(batch, ceildiv(points - k, 128)), 128>>>(l, points, k)
//@ }
//@ solve<<<ceildiv(batch*columns, 64), 64>>>(l, v, batch*columns, points, columns)
//@ predict<<<ceildiv(batch*tests, 64), 64>>>(v, mean, var, variance, batch*tests, points, tests)
#include <cmath>

__device__ double rbf(const float* a, const float* b, int dim, float scale, float variance) {
    double d2 = 0;
    for (int c = 0; c < dim; ++c) d2 += ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return variance * exp(-d2 / (2 * (double)scale * scale));
}

__global__ void gram(const float* x, double* l, float scale, float variance, float noise, long long count, int points, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long m = at % points, n = at / points % points, b = at / points / points;
    l[at] = rbf(x + (b * points + n) * dim, x + (b * points + m) * dim, dim, scale, variance) + (n == m ? (double)noise : 0.0);
}

// Right-hand sides: k_t for each test, and y as the last column.
__global__ void sides(const float* x, const float* xs, const float* y, double* v, float scale, float variance, long long count,
                      int points, int tests, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % (tests + 1), row = at / (tests + 1), b = row / points;
    v[at] = t < tests ? rbf(x + row * dim, xs + (b * tests + t) * dim, dim, scale, variance) : y[row];
}

// Cholesky, K = L L^T, column by column: what column k of K has left after the columns before it.
__global__ void column(double* l, int points, int k) {
    int i = k + blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= points) return;
    double* m = l + (long long)blockIdx.x * points * points;
    double sum = m[(long long)i * points + k];
    for (int j = 0; j < k; ++j) sum -= m[(long long)i * points + j] * m[(long long)k * points + j];
    m[(long long)i * points + k] = sum;
}

// The diagonal keeps the square of its root, which every other row needs.
__global__ void divide(double* l, int points, int k) {
    int i = k + 1 + blockIdx.y * blockDim.x + threadIdx.x;
    double* m = l + (long long)blockIdx.x * points * points;
    if (i < points) m[(long long)i * points + k] /= sqrt(m[(long long)k * points + k]);
}

// v = L^-1 v, a thread for each column.
__global__ void solve(const double* l, double* v, long long count, int points, int columns) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    const double* m = l + at / columns * points * points;
    double* own = v + at / columns * points * columns + at % columns;
    for (int i = 0; i < points; ++i) {
        double rest = own[(long long)i * columns];
        for (int j = 0; j < i; ++j) rest -= m[(long long)i * points + j] * own[(long long)j * columns];
        own[(long long)i * columns] = rest / sqrt(m[(long long)i * points + i]);
    }
}

__global__ void predict(const double* v, double* mean, double* var, float variance, long long count, int points, int tests) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    const double* own = v + at / tests * points * (tests + 1);
    double sum = 0, squares = 0;
    for (long long i = 0; i < points; ++i) {
        double a = own[i * (tests + 1) + at % tests];
        sum += a * own[i * (tests + 1) + tests];
        squares += a * a;
    }
    mean[at] = sum;
    var[at] = fmax(variance - squares, 1e-6);
}
