//@ problem level1/20
//@ rotate<<<ceildiv(batch*heads*length*pairs, 128), 128>>>(q, inv_freq, q_out, start, batch*heads, length, pairs)
//@ rotate<<<ceildiv(batch*heads*length*pairs, 128), 128>>>(k, inv_freq, k_out, start, batch*heads, length, pairs)
#include <cmath>

__global__ void rotate(const float* x, const float* inv_freq, double* out, int start, int sequences, int length, int pairs) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)sequences * length * pairs) return;
    int i = (int)(at % pairs), t = (int)(at / pairs % length);
    long long first = at / pairs * 2 * pairs + i, second = first + pairs;
    double angle = __fmul_rn((float)(start + t), inv_freq[i]);
    double c = cos(angle), s = sin(angle);
    out[first] = x[first] * c - x[second] * s;
    out[second] = x[second] * c + x[first] * s;
}
