//@ problem level3/9
//@ scratch f64 precision[batch, dim, dim], weights[batch, dim], v[batch, tests, dim]
//@ gram<<<ceildiv(batch*dim*dim, 128), 128>>>(x, precision, alpha, beta, batch*dim*dim, points, dim)
//@ moments<<<ceildiv(batch*dim, 64), 64>>>(x, y, weights, beta, batch*dim, points, dim)
//@ factor<<<ceildiv(batch, 32), 32>>>(precision, batch, dim)
//@ solve<<<ceildiv(batch, 32), 32>>>(precision, weights, batch, dim)
//@ predict<<<ceildiv(batch*tests, 64), 64>>>(xs, precision, weights, v, mean, var, doubt, beta, batch*tests, tests, dim)
#include <cmath>

__global__ void gram(const float* x, double* precision, float alpha, float beta, long long count, int points, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long j = at % dim, i = at / dim % dim, b = at / dim / dim;
    double sum = 0;
    for (int n = 0; n < points; ++n) sum += (double)x[(b * points + n) * dim + i] * x[(b * points + n) * dim + j];
    precision[at] = beta * sum + (i == j ? (double)alpha : 0.0);
}

// The right-hand side, which solve() turns into the weights.
__global__ void moments(const float* x, const float* y, double* weights, float beta, long long count, int points, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long i = at % dim, b = at / dim;
    double sum = 0;
    for (int n = 0; n < points; ++n) sum += (double)x[(b * points + n) * dim + i] * y[b * points + n];
    weights[at] = beta * sum;
}

// Cholesky: the lower triangle of each matrix becomes L with L L^T = precision.
__global__ void factor(double* precision, int batch, int dim) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    double* m = precision + (long long)b * dim * dim;
    for (int k = 0; k < dim; ++k)
        for (int i = k; i < dim; ++i) {
            double sum = m[i * dim + k];
            for (int j = 0; j < k; ++j) sum -= m[i * dim + j] * m[k * dim + j];
            m[i * dim + k] = i == k ? sqrt(sum) : sum / m[k * dim + k];
        }
}

__global__ void solve(const double* precision, double* weights, int batch, int dim) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    const double* m = precision + (long long)b * dim * dim;
    double* w = weights + (long long)b * dim;
    for (int i = 0; i < dim; ++i) {
        for (int j = 0; j < i; ++j) w[i] -= m[i * dim + j] * w[j];
        w[i] /= m[i * dim + i];
    }
    for (int i = dim - 1; i >= 0; --i) {
        for (int j = i + 1; j < dim; ++j) w[i] -= m[j * dim + i] * w[j];
        w[i] /= m[i * dim + i];
    }
}

// dot(xs, precision^-1 xs) is the squared length of v = L^-1 xs.
__global__ void predict(const float* xs, const double* precision, const double* weights, double* v, double* mean, double* var,
                        double* doubt, float beta, long long count, int tests, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long b = at / tests;
    const double* m = precision + b * dim * dim;
    double* own = v + at * dim;
    double sum = 0, squares = 0;
    for (int i = 0; i < dim; ++i) {
        sum += xs[at * dim + i] * weights[b * dim + i];
        double rest = xs[at * dim + i];
        for (int j = 0; j < i; ++j) rest -= m[i * dim + j] * own[j];
        own[i] = rest / m[i * dim + i];
        squares += own[i] * own[i];
    }
    mean[at] = sum;
    var[at] = 1 / (double)beta + squares;
    doubt[at] = squares;
}
