//@ problem level1/9
//@ scan<<<ceildiv(batch*channels, 64), 64>>>(a, b, h, batch, length, channels)
__global__ void scan(const float* a, const float* b, double* h, int batch, int length, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels) return;
    long long first = (long long)(i / channels) * length * channels + i % channels;
    double state = 0;
    for (int t = 0; t < length; ++t) {
        long long at = first + (long long)t * channels;
        state = a[at] * state + b[at];
        h[at] = state;
    }
}
