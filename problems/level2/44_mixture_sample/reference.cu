//@ problem level2/44
//@ scratch f64 logp[batch, parts]
//@ draw<<<ceildiv(batch*dim, 128), 128>>>(mu, logvar, pick, noise, z, batch*dim, parts, dim)
//@ score<<<ceildiv(batch*parts, 64), 64>>>(z, mu, logvar, logit, logp, batch*parts, parts, dim)
//@ mix<<<ceildiv(batch, 64), 64>>>(z, mu, logvar, logp, log_q, log_size, batch, parts, dim)
#include <cmath>

__global__ void draw(const float* mu, const float* logvar, const int* pick, const float* noise, double* z, long long count, int parts, int dim) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long b = i / dim, at = (b * parts + pick[b]) * dim + i % dim;
    z[i] = mu[at] + exp((double)logvar[at] / 2) * noise[i];
}

__global__ void score(const double* z, const float* mu, const float* logvar, const float* logit, double* logp, long long count, int parts, int dim) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long b = i / parts, k = i % parts;
    double top = -INFINITY, total = 0, sum = 0;
    for (int m = 0; m < parts; ++m) top = fmax(top, (double)logit[m]);
    for (int m = 0; m < parts; ++m) total += exp(logit[m] - top);
    for (int d = 0; d < dim; ++d) {
        double off = z[b * dim + d] - mu[i * dim + d], v = logvar[i * dim + d];
        sum += off * off / exp(v) + v + log(2 * 3.14159265358979323846);
    }
    logp[i] = logit[k] - top - log(total) - sum / 2;
}

// The size of a sum is that of the terms of its largest part.
__global__ void mix(const double* z, const float* mu, const float* logvar, const double* logp, double* log_q, double* log_size,
                    int batch, int parts, int dim) {
    long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    int best = 0;
    for (int k = 1; k < parts; ++k)
        if (logp[b * parts + k] > logp[b * parts + best]) best = k;
    double total = 0, size = 1;
    for (int k = 0; k < parts; ++k) total += exp(logp[b * parts + k] - logp[b * parts + best]);
    for (int d = 0; d < dim; ++d) {
        long long at = (b * parts + best) * dim + d;
        double off = z[b * dim + d] - mu[at], v = logvar[at];
        size += (off * off / exp(v) + fabs(v) + log(2 * 3.14159265358979323846)) / 2;
    }
    log_q[b] = logp[b * parts + best] + log(total);
    log_size[b] = size;
}
