//@ problem level1/20
//@ const ROWS = 8
//@ let rows = batch*heads*length
//@ scratch f32 cosine[length, pairs], sine[length, pairs]
//@ table<<<ceildiv(length, ROWS), (32, ROWS)>>>(inv_freq, cosine, sine, start, length, pairs)
//@ rotate<<<ceildiv(rows, ROWS), (32, ROWS)>>>(q, cosine, sine, q_out, rows, length, pairs)
//@ rotate<<<ceildiv(rows, ROWS), (32, ROWS)>>>(k, cosine, sine, k_out, rows, length, pairs)
#include <cmath>

__global__ void table(const float* inv_freq, float* cosine, float* sine, int start, int length, int pairs) {
    int t = blockIdx.x * ROWS + threadIdx.y;
    if (t >= length) return;
    for (int i = threadIdx.x; i < pairs; i += 32) {
        float angle = __fmul_rn((float)(start + t), inv_freq[i]);
        cosine[(size_t)t * pairs + i] = cosf(angle);
        sine[(size_t)t * pairs + i] = sinf(angle);
    }
}

// A warp turns one row.
__global__ void rotate(const float* x, const float* cosine, const float* sine, float* out, int rows, int length, int pairs) {
    int row = blockIdx.x * ROWS + threadIdx.y;
    if (row >= rows) return;
    const float* c = cosine + (size_t)(row % length) * pairs;
    const float* s = sine + (size_t)(row % length) * pairs;
    const float* from = x + (size_t)row * 2 * pairs;
    float* to = out + (size_t)row * 2 * pairs;
    for (int i = threadIdx.x; i < pairs; i += 32) {
        to[i] = from[i] * c[i] - from[i + pairs] * s[i];
        to[i + pairs] = from[i + pairs] * c[i] + from[i] * s[i];
    }
}
