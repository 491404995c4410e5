//@ problem level1/1
//@ filter<<<ceildiv(batch*channels*length, 128), 128>>>(x, w, y, batch, channels, length, taps)
__global__ void filter(const float* x, const float* w, double* y, int batch, int channels, int length, int taps) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)batch * channels * length) return;
    int t = (int)(i % length), c = (int)(i / length % channels), left = (taps - 1) / 2;
    double sum = 0;
    for (int j = 0; j < taps; ++j) {
        int at = t + j - left;
        if (at >= 0 && at < length) sum += (double)w[(long long)c * taps + j] * x[i - t + at];
    }
    y[i] = sum;
}
