//@ problem level1/27
//@ permute<<<ceildiv(rows*cols, 128), 128>>>(x, source, y, rows, cols)
__global__ void permute(const float* x, const int* source, double* y, int rows, int cols) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * cols) return;
    long long j = i % cols;
    y[i] = x[i - j + source[j]];
}
