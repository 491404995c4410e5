//@ problem level3/10
//@ let square = dim*dim, chunks = clamp(ceildiv(points, 4096), 64, 1024)
//@ scratch f64 l[parts, dim, dim], logp[points, parts], n_part[chunks, parts], n[parts]
//@ scratch f64 mean_part[chunks, parts, dim], cov_part[chunks, parts, dim, dim]
//@ factor<<<ceildiv(parts, 32), 32>>>(cov, l, parts, dim)
//@ density<<<ceildiv(points*parts, 64), 64>>>(x, weight, mean, l, logp, points*parts, parts, dim)
//@ responsible<<<ceildiv(points, 64), 64>>>(logp, resp, points, parts)
//@ count_parts<<<ceildiv(chunks*parts, 64), 64>>>(resp, n_part, points, parts, chunks)
//@ count<<<ceildiv(parts, 32), 32>>>(n_part, n, parts, chunks)
//@ shares<<<1, 1>>>(n, new_weight, parts)
//@ mean_parts<<<ceildiv(chunks*parts*dim, 64), 64>>>(x, resp, mean_part, points, parts, dim, chunks)
//@ means<<<ceildiv(parts*dim, 64), 64>>>(mean_part, n, new_mean, parts, dim, chunks)
//@ cov_parts<<<ceildiv(chunks*parts*square, 64), 64>>>(x, resp, new_mean, cov_part, points, parts, dim, chunks)
//@ covs<<<ceildiv(parts*square, 64), 64>>>(cov_part, n, new_cov, parts, dim, chunks)
#include <cmath>

// Cholesky, cov = L L^T: a thread for each part.
__global__ void factor(const float* cov, double* l, int parts, int dim) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= parts) return;
    const float* from = cov + k * dim * dim;
    double* to = l + k * dim * dim;
    for (int j = 0; j < dim; ++j)
        for (int i = j; i < dim; ++i) {
            double rest = from[i * dim + j];
            for (int c = 0; c < j; ++c) rest -= to[i * dim + c] * to[j * dim + c];
            to[i * dim + j] = i == j ? sqrt(rest) : rest / to[j * dim + j];
        }
}

// |L^-1 (x - mean)|^2 is the squared distance; dim is at most 64.
__global__ void density(const float* x, const float* weight, const float* mean, const double* l, double* logp, long long count, int parts, int dim) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long n = at / parts, k = at % parts;
    const double* own = l + k * dim * dim;
    double v[64], far = 0, half_log = 0;
    for (int i = 0; i < dim; ++i) {
        double rest = (double)x[n * dim + i] - mean[k * dim + i];
        for (int c = 0; c < i; ++c) rest -= own[i * dim + c] * v[c];
        v[i] = rest / own[i * dim + i];
        far += v[i] * v[i];
        half_log += log(own[i * dim + i]);
    }
    logp[at] = log((double)weight[k]) - far / 2 - half_log;
}

__global__ void responsible(const double* logp, double* resp, long long points, int parts) {
    long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= points) return;
    double top = -INFINITY, total = 0;
    for (int k = 0; k < parts; ++k) top = fmax(top, logp[n * parts + k]);
    for (int k = 0; k < parts; ++k) total += exp(logp[n * parts + k] - top);
    for (int k = 0; k < parts; ++k) resp[n * parts + k] = exp(logp[n * parts + k] - top) / total;
}

// Sums over every chunks-th point, at most 4,096 of them, then over the chunks.
__global__ void count_parts(const double* resp, double* n_part, long long points, int parts, int chunks) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= chunks * parts) return;
    double sum = 0;
    for (long long p = at / parts; p < points; p += chunks) sum += resp[p * parts + at % parts];
    n_part[at] = sum;
}

__global__ void count(const double* n_part, double* n, int parts, int chunks) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= parts) return;
    double sum = 1e-3;
    for (int c = 0; c < chunks; ++c) sum += n_part[c * parts + k];
    n[k] = sum;
}

__global__ void shares(const double* n, double* new_weight, int parts) {
    double total = 0;
    for (int k = 0; k < parts; ++k) total += n[k];
    for (int k = 0; k < parts; ++k) new_weight[k] = n[k] / total;
}

__global__ void mean_parts(const float* x, const double* resp, double* mean_part, long long points, int parts, int dim, int chunks) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, each = parts * dim;
    if (at >= chunks * each) return;
    int k = at % each / dim, i = at % dim;
    double sum = 0;
    for (long long p = at / each; p < points; p += chunks) sum += resp[p * parts + k] * x[p * dim + i];
    mean_part[at] = sum;
}

__global__ void means(const double* mean_part, const double* n, double* new_mean, int parts, int dim, int chunks) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= parts * dim) return;
    double sum = 0;
    for (int c = 0; c < chunks; ++c) sum += mean_part[c * parts * dim + at];
    new_mean[at] = sum / n[at / dim];
}

__global__ void cov_parts(const float* x, const double* resp, const double* new_mean, double* cov_part, long long points, int parts, int dim,
                          int chunks) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, each = parts * dim * dim;
    if (at >= chunks * each) return;
    int k = at % each / dim / dim, i = at / dim % dim, j = at % dim;
    double sum = 0, mi = new_mean[k * dim + i], mj = new_mean[k * dim + j];
    for (long long p = at / each; p < points; p += chunks) sum += resp[p * parts + k] * (x[p * dim + i] - mi) * (x[p * dim + j] - mj);
    cov_part[at] = sum;
}

__global__ void covs(const double* cov_part, const double* n, double* new_cov, int parts, int dim, int chunks) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, square = dim * dim;
    if (at >= parts * square) return;
    double sum = 0;
    for (int c = 0; c < chunks; ++c) sum += cov_part[c * parts * square + at];
    new_cov[at] = sum / n[at / square] + (at / dim % dim == at % dim ? 1e-4 : 0.0);
}
