//@ problem level2/37
//@ scratch f64 p[edges]
//@ softmax<<<ceildiv(rows, 128), 128>>>(row_ptr, score, p, rows)
//@ gather<<<ceildiv(rows*channels, 128), 128>>>(row_ptr, col, p, x, y, rows, channels)
#include <cmath>

__global__ void softmax(const int* row_ptr, const float* score, double* p, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double top = -INFINITY, total = 0;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) top = fmax(top, (double)score[e]);
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) {
        p[e] = exp(score[e] - top);
        total += p[e];
    }
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) p[e] /= total;
}

__global__ void gather(const int* row_ptr, const int* col, const double* p, const float* x, double* y, int rows, int channels) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * channels) return;
    int r = (int)(i / channels), c = (int)(i % channels);
    double sum = 0;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += p[e] * x[(long long)col[e] * channels + c];
    y[i] = sum;
}
