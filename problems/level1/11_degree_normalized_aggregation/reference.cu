//@ problem level1/11
//@ aggregate<<<ceildiv(nodes*width, 128), 128>>>(row_ptr, col, degree, x, y, nodes, width)
#include <cmath>

__global__ void aggregate(const int* row_ptr, const int* col, const int* degree, const float* x, double* y,
                          int nodes, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)nodes * width) return;
    int r = (int)(i / width), f = (int)(i % width);
    double sum = 0;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e)
        sum += x[(long long)col[e] * width + f] / sqrt((double)degree[r] * degree[col[e]]);
    y[i] = sum;
}
