//@ problem level2/38
//@ scratch f64 h[ranks, batch, hidden]
//@ first<<<(batch, ceildiv(hidden, 128), ranks), 128>>>(x, w1, b1, h, batch, win, hidden)
//@ second<<<(batch, ceildiv(out, 128), ranks), 128>>>(h, w2, b2, y, ranks, batch, hidden, out)
#include <cmath>

// All tensors begin with the rank; the block's z is the rank whose batch it is.
__global__ void first(const float* x, const float* w1, const float* b1, double* h, int batch, int win, int hidden) {
    size_t b = blockIdx.x, r = blockIdx.z;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= hidden) return;
    double sum = b1[r * hidden + j];
    for (int k = 0; k < win; ++k) sum += (double)x[(r * batch + b) * win + k] * w1[(r * hidden + j) * win + k];
    h[(r * batch + b) * hidden + j] = sum / (1 + exp(-sum));
}

__global__ void second(const double* h, const float* w2, const float* b2, double* y, int ranks, int batch, int hidden,
                       int out) {
    size_t b = blockIdx.x, r = blockIdx.z, s = (r + 1) % ranks;
    int o = blockIdx.y * blockDim.x + threadIdx.x;
    if (o >= out) return;
    double sum = b2[s * out + o];
    for (int j = 0; j < hidden; ++j) sum += h[(r * batch + b) * hidden + j] * w2[(s * out + o) * hidden + j];
    y[(r * batch + b) * out + o] = sum;
}
