//@ problem level2/47
//@ layer<<<ceildiv(batch*out, 128), 128>>>(x, w, bias, y, ranks, batch, hidden, out)
__global__ void layer(const float* x, const float* w, const float* bias, double* y, int ranks, long long batch, int hidden, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * out) return;
    long long b = i / out, o = i % out;
    double sum = bias[o];
    for (int r = 0; r < ranks; ++r)
        for (int c = 0; c < hidden; ++c) sum += (double)w[(o * ranks + r) * hidden + c] * x[(r * batch + b) * hidden + c];
    y[i] = sum;
}
