//@ problem level1/30
//@ send<<<ceildiv(rows*cols, 128), 128>>>(x, mask, y, rows, cols)
__global__ void send(const float* x, const bool* mask, double* y, int rows, int cols) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * cols) return;
    long long j = i % cols;
    y[i] = mask[j] ? x[j] : x[i];
}
