//@ problem level1/23
//@ average<<<ceildiv(rows*cols, 128), 128>>>(x, samples, y, ranks, rows*cols)
__global__ void average(const float* x, const int* samples, double* y, int ranks, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double sum = 0, all = 0;
    for (int r = 0; r < ranks; ++r) {
        sum += (double)samples[r] * x[r * count + i];
        all += samples[r];
    }
    y[i] = sum / all;
}
