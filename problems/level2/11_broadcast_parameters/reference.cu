//@ problem level2/11
//@ layer<<<(ranks*batch, ceildiv(out, 128)), 128>>>(x, w, bias, y, root, win, out)
// Rows of all ranks' batches one after another; w[root] and bias[root] are those of the root.
__global__ void layer(const float* x, const float* w, const float* bias, double* y, int root, int win, int out) {
    size_t row = blockIdx.x;
    int o = blockIdx.y * blockDim.x + threadIdx.x;
    if (o >= out) return;
    double sum = bias[(size_t)root * out + o];
    for (int k = 0; k < win; ++k) sum += (double)x[row * win + k] * w[((size_t)root * out + o) * win + k];
    y[row * out + o] = sum;
}
