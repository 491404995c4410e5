//@ problem level2/50
//@ let count = batch*states
//@ scratch f64 pi[states], a[states, states], b[states, symbols], alpha[batch, states], next[batch, states], logs[batch]
//@ softmax<<<1, 1>>>(start, pi, 1, states)
//@ softmax<<<ceildiv(states, 32), 32>>>(move, a, states, states)
//@ softmax<<<ceildiv(states, 32), 32>>>(emit, b, states, symbols)
//@ zero(logs)
//@ zero(log_size)
//@ begin<<<ceildiv(count, 128), 128>>>(symbol, pi, b, alpha, count, len, states, symbols)
//@ rescale<<<ceildiv(batch, 64), 64>>>(alpha, logs, log_size, batch, states)
//@ for (t = 1; t < len; ++t) {
//@   step<<<ceildiv(count, 128), 128>>>(symbol, a, b, alpha, next, count, t, len, states, symbols)
//@   copy(alpha, next)
//@   rescale<<<ceildiv(batch, 64), 64>>>(alpha, logs, log_size, batch, states)
//@ }
//@ copy(loglik, logs)
//@ copy(last, alpha)
#include <cmath>

__global__ void softmax(const float* x, double* p, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double top = -INFINITY, total = 0;
    for (int c = 0; c < width; ++c) top = fmax(top, (double)x[r * width + c]);
    for (int c = 0; c < width; ++c) total += exp(x[r * width + c] - top);
    for (int c = 0; c < width; ++c) p[r * width + c] = exp(x[r * width + c] - top) / total;
}

__global__ void begin(const int* symbol, const double* pi, const double* b, double* alpha, long long count, int len, int states, int symbols) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long j = i % states;
    alpha[i] = pi[j] * b[j * symbols + symbol[i / states * len]];
}

__global__ void step(const int* symbol, const double* a, const double* b, const double* alpha, double* next, long long count, int t,
                     int len, int states, int symbols) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long j = i % states, row = i / states;
    double sum = 0;
    for (int from = 0; from < states; ++from) sum += alpha[row * states + from] * a[from * states + j];
    next[i] = sum * b[j * symbols + symbol[row * len + t]];
}

// alpha of each sequence to the sum 1; the logarithm of what was taken out is kept.
__global__ void rescale(double* alpha, double* logs, double* log_size, int batch, int states) {
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= batch) return;
    double total = 0;
    for (int j = 0; j < states; ++j) total += alpha[row * states + j];
    for (int j = 0; j < states; ++j) alpha[row * states + j] /= total;
    logs[row] += log(total);
    log_size[row] += fmax(1.0, fabs(log(total)));
}
