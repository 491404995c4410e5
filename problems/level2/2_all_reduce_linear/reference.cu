//@ problem level2/2
//@ layer<<<(batch, ceildiv(out, 128)), 128>>>(x, w, bias, y, ranks, batch, win, out)
// x[q], w[q] and y[q] are those of rank q.
__global__ void layer(const float* x, const float* w, const float* bias, double* y, int ranks, int batch, int win,
                      int out) {
    int b = blockIdx.x, o = blockIdx.y * blockDim.x + threadIdx.x;
    if (o >= out) return;
    double sum = 0;
    for (int q = 0; q < ranks; ++q)
        for (int k = 0; k < win; ++k)
            sum += (double)x[((size_t)q * batch + b) * win + k] * w[((size_t)q * out + o) * win + k];
    for (int q = 0; q < ranks; ++q) y[((size_t)q * batch + b) * out + o] = bias[o] + sum;
}
