//@ problem level2/18
//@ scratch f64 m[rows]
//@ squares<<<ceildiv(rows, 128), 128>>>(x, m, ranks, rows, cols)
//@ gather<<<(rows, ceildiv(cols, 128), ranks), 128>>>(x, gain, m, y, ranks, rows, cols)
#include <cmath>

// x[q], gain[q] and y[q] are those of rank q.
__global__ void squares(const float* x, double* m, int ranks, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    double sum = 0;
    for (int q = 0; q < ranks; ++q)
        for (int c = 0; c < cols; ++c) {
            double value = x[((size_t)q * rows + i) * cols + c];
            sum += value * value;
        }
    m[i] = sum / ((double)ranks * cols);
}

__global__ void gather(const float* x, const float* gain, const double* m, double* y, int ranks, int rows, int cols) {
    size_t i = blockIdx.x;
    int c = blockIdx.y * blockDim.x + threadIdx.x, q = blockIdx.z;
    if (c >= cols) return;
    double value = (double)gain[(size_t)q * cols + c] * x[((size_t)q * rows + i) * cols + c] / sqrt(m[i] + 1e-5);
    for (int r = 0; r < ranks; ++r) y[((size_t)r * rows + i) * ranks * cols + (size_t)q * cols + c] = value;
}
