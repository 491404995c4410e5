//@ problem level1/1
//@ const THREADS = 256
//@ filter<<<(ceildiv(length, THREADS), min(batch*channels, 65535)), THREADS>>>(x, w, y, batch*channels, channels, length, taps)
// A block makes THREADS times of one channel after another; neighbours share their samples through the cache.
__global__ void filter(const float* x, const float* w, float* y, int rows, int channels, int length, int taps) {
    int t = blockIdx.x * THREADS + threadIdx.x, left = (taps - 1) / 2;
    if (t >= length) return;
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const float* from = x + (size_t)row * length;
        const float* tap = w + (size_t)(row % channels) * taps;
        float sum = 0.0f;
        for (int j = 0; j < taps; ++j) {
            int at = t + j - left;
            if (at >= 0 && at < length) sum += tap[j] * from[at];
        }
        y[(size_t)row * length + t] = sum;
    }
}
