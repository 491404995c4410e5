//@ problem level2/31
//@ let count = batch*len*channels, rows = batch*len*heads
//@ scratch f64 k[batch, len, channels], v[batch, len, channels], p[batch, len, heads, len]
//@ expand<<<ceildiv(count, 128), 128>>>(latent, w_key, k, count, latents, channels)
//@ expand<<<ceildiv(count, 128), 128>>>(latent, w_value, v, count, latents, channels)
//@ logits<<<ceildiv(rows*len, 128), 128>>>(q, k, p, rows*len, len, heads, hd)
//@ softmax<<<ceildiv(rows, 64), 64>>>(p, rows, len, heads)
//@ gather<<<ceildiv(count, 128), 128>>>(p, v, y, count, len, heads, hd)
#include <cmath>

__global__ void expand(const float* latent, const float* w, double* out, long long count, int latents, int channels) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long o = at % channels, place = at / channels;
    double sum = 0;
    for (int c = 0; c < latents; ++c) sum += (double)latent[place * latents + c] * w[(long long)c * channels + o];
    out[at] = sum;
}

// p[b, i, h, n]; places after i stay 0.
__global__ void logits(const float* q, const double* k, double* p, long long count, int len, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long n = at % len, h = at / len % heads, place = at / len / heads, i = place % len, other = place - i + n;
    double sum = 0;
    if (n <= i)
        for (int d = 0; d < hd; ++d) sum += q[(place * heads + h) * hd + d] * k[(other * heads + h) * hd + d];
    p[at] = sum / sqrt((double)hd);
}

__global__ void softmax(double* p, long long rows, int len, int heads) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int i = (int)(row / heads % len);
    double* at = p + row * len;
    double top = -INFINITY, total = 0;
    for (int n = 0; n <= i; ++n) top = fmax(top, at[n]);
    for (int n = 0; n <= i; ++n) {
        at[n] = exp(at[n] - top);
        total += at[n];
    }
    for (int n = 0; n <= i; ++n) at[n] /= total;
}

__global__ void gather(const double* p, const double* v, double* y, long long count, int len, int heads, int hd) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long d = at % hd, h = at / hd % heads, place = at / hd / heads, i = place % len, first = place - i;
    double sum = 0;
    for (int n = 0; n <= i; ++n) sum += p[(place * heads + h) * len + n] * v[((first + n) * heads + h) * hd + d];
    y[at] = sum;
}
