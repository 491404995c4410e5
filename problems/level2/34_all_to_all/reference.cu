//@ problem level2/34
//@ exchange<<<(ranks*rows, ceildiv(cols, 128), ranks), 128>>>(x, gain, order, y, ranks, rows, cols)
// x[q][r] is rank q's block for rank r; order[r] and y[r] are those of rank r.
__global__ void exchange(const float* x, const float* gain, const int* order, double* y, int ranks, int rows, int cols) {
    int j = blockIdx.x, c = blockIdx.y * blockDim.x + threadIdx.x, r = blockIdx.z;
    if (c >= cols) return;
    int from = order[(size_t)r * ranks * rows + j], q = from / rows, i = from % rows;
    y[((size_t)r * ranks * rows + j) * cols + c] =
        (double)gain[(size_t)q * cols + c] * x[(((size_t)q * ranks + r) * rows + i) * cols + c];
}
