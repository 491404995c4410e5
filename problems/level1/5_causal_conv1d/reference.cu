//@ problem level1/5
//@ conv<<<ceildiv(batch*cout*length, 128), 128>>>(x, w, y, batch, cin, cout, length, taps, dilation)
__global__ void conv(const float* x, const float* w, double* y,
                     int batch, int cin, int cout, int length, int taps, int dilation) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)batch * cout * length) return;
    int t = (int)(i % length);
    long long o = i / length % cout, b = i / length / cout;
    double sum = 0;
    for (int c = 0; c < cin; ++c)
        for (int j = 0; j < taps; ++j) {
            int at = t - (taps - 1 - j) * dilation;
            if (at >= 0) sum += (double)w[(o * cin + c) * taps + j] * x[(b * cin + c) * length + at];
        }
    y[i] = sum;
}
