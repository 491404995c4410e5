//@ problem level2/46
//@ let threads = 128*clamp(ceildiv(n*n, 8192), 1, 512)
//@ scratch f64 far[n, n], k[n, n]
//@ scratch u64 found[1], below[1]
//@ distances<<<ceildiv(n*n, 128), 128>>>(x, far, n*n, n, dim)
//@ zero(found)
//@ for (bit = 62; bit >= 0; --bit) {
//@   zero(below)
//@   count<<<threads/128, 128>>>(far, found, below, n, bit)
//@   decide<<<1, 1>>>(found, below, n, bit)
//@ }
//@ similar<<<ceildiv(n*n, 128), 128>>>(far, found, k, n)
//@ direct<<<ceildiv(n*dim, 128), 128>>>(x, center, width, k, found, phi, n, dim)
#include <cmath>

__global__ void distances(const float* x, double* far, long long count, int n, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long i = at / n, j = at % n;
    double sum = 0;
    for (int c = 0; c < dim; ++c) sum += ((double)x[i * dim + c] - x[j * dim + c]) * ((double)x[i * dim + c] - x[j * dim + c]);
    far[at] = sum;
}

// The bits of doubles that are not negative have the doubles' order. The median's are found from the highest on: a bit is one if
// no more than `rank` pairs are below the number with this bit and zeros behind.
__global__ void count(const double* far, const unsigned long long* found, unsigned long long* below, long long n, int bit) {
    long long step = (long long)gridDim.x * blockDim.x;
    unsigned long long own = 0, limit = found[0] | 1ull << bit;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < n * n; at += step)
        if (at / n < at % n && (unsigned long long)__double_as_longlong(far[at]) < limit) ++own;
    if (own > 0) atomicAdd(below, own);
}

__global__ void decide(unsigned long long* found, const unsigned long long* below, long long n, int bit) {
    unsigned long long rank = (n * (n - 1) / 2 - 1) / 2;
    if (below[0] <= rank) found[0] |= 1ull << bit;
}

__device__ double bandwidth(const unsigned long long* found, int n) { return __longlong_as_double((long long)found[0]) / log(n + 1.0); }

__global__ void similar(const double* far, const unsigned long long* found, double* k, int n) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < (long long)n * n) k[at] = exp(-far[at] / bandwidth(found, n));
}

__global__ void direct(const float* x, const float* center, const float* width, const double* k, const unsigned long long* found,
                       double* phi, int n, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)n * dim) return;
    long long i = at / dim, c = at % dim;
    double h = bandwidth(found, n), sum = 0;
    for (long long j = 0; j < n; ++j) {
        double score = ((double)center[c] - x[j * dim + c]) / ((double)width[c] * width[c]);
        sum += k[i * n + j] * (score + 2 / h * ((double)x[at] - x[j * dim + c]));
    }
    phi[at] = sum / n;
}
