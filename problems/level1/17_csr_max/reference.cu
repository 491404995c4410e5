//@ problem level1/17
//@ pool<<<ceildiv(rows*width, 128), 128>>>(row_ptr, col, x, y, rows, width)
#include <cmath>

__global__ void pool(const int* row_ptr, const int* col, const float* x, double* y, int rows, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * width) return;
    int r = (int)(i / width), f = (int)(i % width);
    double best = -INFINITY;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) best = fmax(best, (double)x[(long long)col[e] * width + f]);
    y[i] = best;
}
