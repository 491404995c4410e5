//@ problem level2/7
//@ scratch f64 z[batch, cin, length]
//@ depthwise<<<ceildiv(batch*cin*length, 128), 128>>>(x, w_depth, z, batch*cin*length, cin, length, taps)
//@ pointwise<<<ceildiv(batch*cout*length, 128), 128>>>(z, w_point, y, batch*cout*length, cin, cout, length)

__global__ void depthwise(const float* x, const float* w, double* z, long long count, int channels, int length, int taps) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, row = at / length, c = row % channels;
    double sum = 0;
    for (int j = 0; j < taps; ++j) {
        long long from = t + j - taps / 2;
        if (from >= 0 && from < length) sum += (double)w[c * taps + j] * x[row * length + from];
    }
    z[at] = sum;
}

__global__ void pointwise(const double* z, const float* w, double* y, long long count, int in, int out, int length) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long t = at % length, o = at / length % out, b = at / length / out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += w[o * in + c] * z[(b * in + c) * length + t];
    y[at] = sum;
}
