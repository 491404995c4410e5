//@ problem level2/1
//@ let tokens = batch*len
//@ scratch f64 latent[tokens, inner]
//@ multiply<float><<<ceildiv(tokens*inner, 128), 128>>>(x, w_down, latent, tokens, channels, inner, inner, 0)
//@ multiply<double><<<ceildiv(tokens*wide, 128), 128>>>(latent, w_key, kv, tokens, inner, wide, 2*wide, 0)
//@ multiply<double><<<ceildiv(tokens*wide, 128), 128>>>(latent, w_value, kv, tokens, inner, wide, 2*wide, wide)

// Row r of x w goes to y[r*stride + first ..].
template <typename T>
__global__ void multiply(const T* x, const float* w, double* y, long long rows, int in, int out, int stride, int first) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = 0;
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[(long long)c * out + o];
    y[r * stride + first + o] = sum;
}
