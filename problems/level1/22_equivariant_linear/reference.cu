//@ problem level1/22
//@ scalar_part<<<ceildiv(nodes*scalars_out, 128), 128>>>(s, v, w_s, bias_s, s_out, nodes, scalars, vectors, scalars_out)
//@ vector_part<<<ceildiv(nodes*vectors_out, 128), 128>>>(s, v, w_g, bias_g, w_v, v_out, nodes, scalars, vectors, vectors_out)
#include <cmath>

// bias + dot(w, the scalars s followed by the lengths of the vectors v)
__device__ double mix(const float* s, const float* v, const float* w, double bias, int scalars, int vectors) {
    double sum = bias;
    for (int i = 0; i < scalars; ++i) sum += (double)w[i] * s[i];
    for (int i = 0; i < vectors; ++i) {
        double x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
        sum += w[scalars + i] * sqrt(x * x + y * y + z * z);
    }
    return sum;
}

__global__ void scalar_part(const float* s, const float* v, const float* w, const float* bias, double* s_out,
                            int nodes, int scalars, int vectors, int outputs) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)nodes * outputs) return;
    long long n = at / outputs, o = at % outputs;
    s_out[at] = mix(s + n * scalars, v + n * vectors * 3, w + o * (scalars + vectors), bias[o], scalars, vectors);
}

__global__ void vector_part(const float* s, const float* v, const float* w_g, const float* bias, const float* w_v,
                            double* v_out, int nodes, int scalars, int vectors, int outputs) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)nodes * outputs) return;
    long long n = at / outputs, o = at % outputs;
    double a = mix(s + n * scalars, v + n * vectors * 3, w_g + o * (scalars + vectors), bias[o], scalars, vectors);
    double gate = 1 / (1 + exp(-a));
    for (int x = 0; x < 3; ++x) {
        double sum = 0;
        for (int i = 0; i < vectors; ++i) sum += (double)w_v[o * vectors + i] * v[(n * vectors + i) * 3 + x];
        v_out[at * 3 + x] = gate * sum;
    }
}
