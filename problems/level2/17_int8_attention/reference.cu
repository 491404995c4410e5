//@ problem level2/17
//@ scratch f64 p[batch, heads, len, len]
//@ logits<<<(ceildiv(len, 128), len, batch*heads), 128>>>(q, k, q_scale, k_scale, p, len, heads, hd)
//@ softmax<<<ceildiv(batch*heads*len, 64), 64>>>(p, batch*heads*len, len)
//@ gather<<<ceildiv(batch*len*heads*hd, 128), 128>>>(p, v, v_scale, y, batch*len*heads*hd, len, heads, hd)
#include <cmath>

__global__ void logits(const signed char* q, const signed char* k, const float* q_scale, const float* k_scale, double* p,
                       int len, int heads, int hd) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, b = blockIdx.z / heads, h = blockIdx.z % heads;
    if (j > i) return;
    long long sum = 0;
    for (int d = 0; d < hd; ++d)
        sum += (int)q[(((long long)b * len + i) * heads + h) * hd + d] * k[(((long long)b * len + j) * heads + h) * hd + d];
    p[((long long)blockIdx.z * len + i) * len + j] = (double)q_scale[h] * k_scale[h] * sum / sqrt((double)hd);
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

__global__ void gather(const double* p, const signed char* v, const float* v_scale, double* y, long long count,
                       int len, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    int d = (int)(at % hd), h = (int)(at / hd % heads), i = (int)(at / hd / heads % len);
    long long b = at / hd / heads / len;
    double sum = 0;
    for (int j = 0; j <= i; ++j)
        sum += p[((b * heads + h) * len + i) * len + j] * v[((b * len + j) * heads + h) * hd + d];
    y[at] = v_scale[h] * sum;
}
