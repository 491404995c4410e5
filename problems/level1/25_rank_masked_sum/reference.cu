//@ problem level1/25
//@ add<<<ceildiv(rows*cols, 128), 128>>>(x, mask, y, ranks, rows*cols)
__global__ void add(const float* x, const bool* mask, double* y, int ranks, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double sum = 0;
    for (int r = 0; r < ranks; ++r)
        if (mask[r * count + i]) sum += x[r * count + i];
    y[i] = sum;
}
