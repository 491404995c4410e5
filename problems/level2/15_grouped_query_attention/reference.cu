//@ problem level2/15
//@ scratch f64 p[batch, heads, len, len]
//@ logits<<<(ceildiv(len, 128), len, batch*heads), 128>>>(q, k, p, len, heads, share, hd)
//@ softmax<<<ceildiv(batch*heads*len, 64), 64>>>(p, batch*heads*len, len)
//@ gather<<<ceildiv(batch*len*heads*hd, 128), 128>>>(p, v, y, batch*len*heads*hd, len, heads, share, hd)
#include <cmath>

__global__ void logits(const float* q, const float* k, double* p, int len, int heads, int share, int hd) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, h = blockIdx.z % heads;
    if (j > i) return;
    long long b = blockIdx.z / heads, kv = heads / share;
    double sum = 0;
    for (int d = 0; d < hd; ++d)
        sum += (double)q[((b * len + i) * heads + h) * hd + d] * k[((b * len + j) * kv + h / share) * hd + d];
    p[((long long)blockIdx.z * len + i) * len + j] = sum / sqrt((double)hd);
}

// Row i has the entries 0..i.
__global__ void softmax(double* p, long long rows, int len) {
    long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double top = -INFINITY, total = 0;
    for (int j = 0; j <= r % len; ++j) top = fmax(top, p[r * len + j]);
    for (int j = 0; j <= r % len; ++j) {
        p[r * len + j] = exp(p[r * len + j] - top);
        total += p[r * len + j];
    }
    for (int j = 0; j <= r % len; ++j) p[r * len + j] /= total;
}

__global__ void gather(const double* p, const float* v, double* y, long long count, int len, int heads, int share, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long d = at % hd, h = at / hd % heads, i = at / hd / heads % len, b = at / hd / heads / len, kv = heads / share;
    double sum = 0;
    for (int j = 0; j <= i; ++j) sum += p[((b * heads + h) * len + i) * len + j] * v[((b * len + j) * kv + h / share) * hd + d];
    y[at] = sum;
}
