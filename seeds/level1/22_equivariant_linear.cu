//@ problem level1/22
//@ const T = 64, TK = 16, ROWS = 8
//@ scratch f32 feature[nodes, features], gate[nodes, vectors_out]
//@ concatenate<<<ceildiv(nodes, ROWS), (32, ROWS)>>>(s, v, feature, nodes, scalars, vectors)
//@ linear<1><<<(ceildiv(nodes, T), ceildiv(scalars_out, T)), 256>>>(feature, w_s, s_out, nodes, features, scalars_out)
//@ add_bias<<<ceildiv(nodes, ROWS), (32, ROWS)>>>(s_out, bias_s, nodes, scalars_out)
//@ linear<1><<<(ceildiv(nodes, T), ceildiv(vectors_out, T)), 256>>>(feature, w_g, gate, nodes, features, vectors_out)
//@ sigmoid<<<ceildiv(nodes, ROWS), (32, ROWS)>>>(gate, bias_g, nodes, vectors_out)
//@ linear<3><<<(ceildiv(3*nodes, T), ceildiv(vectors_out, T)), 256>>>(v, w_v, v_out, nodes, vectors, vectors_out)
//@ apply_gate<<<ceildiv(nodes, ROWS), (32, ROWS)>>>(v_out, gate, nodes, vectors_out)
#include <cmath>

__global__ void concatenate(const float* s, const float* v, float* feature, int nodes, int scalars, int vectors) {
    int n = blockIdx.x * ROWS + threadIdx.y;
    if (n >= nodes) return;
    float* to = feature + (size_t)n * (scalars + vectors);
    for (int i = threadIdx.x; i < scalars; i += 32) to[i] = s[(size_t)n * scalars + i];
    for (int i = threadIdx.x; i < vectors; i += 32) {
        const float* a = v + ((size_t)n * vectors + i) * 3;
        to[scalars + i] = sqrtf(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    }
}

// to[n,o,c] = sum over i of w[o,i] * from[n,i,c] for the PARTS components c: a matrix product whose rows are the pairs (n, c).
// T x T results for each block from tiles in shared memory, 4 x 4 for each thread.
template <int PARTS> __global__ void linear(const float* from, const float* w, float* to, int nodes, int inner, int outputs) {
    __shared__ float a[TK][T + 4], b[TK][T + 4];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row0 = blockIdx.x * T, o0 = blockIdx.y * T;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < inner; k0 += TK) {
        for (int i = threadIdx.x; i < T * TK; i += 256) {
            int r = i / TK, k = k0 + i % TK, row = row0 + r, n = row / PARTS;
            a[k - k0][r] = n < nodes && k < inner ? from[((size_t)n * inner + k) * PARTS + row % PARTS] : 0.0f;
            b[k - k0][r] = o0 + r < outputs && k < inner ? w[(size_t)(o0 + r) * inner + k] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += a[k][ty * 4 + i] * b[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            int row = row0 + ty * 4 + i, n = row / PARTS, o = o0 + tx + 16 * j;
            if (n < nodes && o < outputs) to[((size_t)n * outputs + o) * PARTS + row % PARTS] = sum[i][j];
        }
}

__global__ void add_bias(float* x, const float* bias, int nodes, int outputs) {
    int n = blockIdx.x * ROWS + threadIdx.y;
    if (n >= nodes) return;
    for (int o = threadIdx.x; o < outputs; o += 32) x[(size_t)n * outputs + o] += bias[o];
}

__global__ void sigmoid(float* x, const float* bias, int nodes, int outputs) {
    int n = blockIdx.x * ROWS + threadIdx.y;
    if (n >= nodes) return;
    for (int o = threadIdx.x; o < outputs; o += 32) {
        size_t at = (size_t)n * outputs + o;
        x[at] = 1.0f / (1.0f + expf(-x[at] - bias[o]));
    }
}

__global__ void apply_gate(float* v, const float* gate, int nodes, int outputs) {
    int n = blockIdx.x * ROWS + threadIdx.y;
    if (n >= nodes) return;
    for (int i = threadIdx.x; i < 3 * outputs; i += 32) v[(size_t)n * outputs * 3 + i] *= gate[(size_t)n * outputs + i / 3];
}
