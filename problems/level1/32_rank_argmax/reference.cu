//@ problem level1/32
//@ find<<<ceildiv(rows*cols, 128), 128>>>(x, top, owner, ranks, rows*cols)
__global__ void find(const float* x, double* top, int* owner, int ranks, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int best = 0;
    for (int r = 1; r < ranks; ++r)
        if (x[r * count + i] > x[best * count + i]) best = r;
    top[i] = x[best * count + i];
    owner[i] = best;
}
