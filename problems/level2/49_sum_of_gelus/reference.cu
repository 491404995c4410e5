//@ problem level2/49
//@ add_up<<<ceildiv(batch*channels, 128), 128>>>(x, y, batch*channels, ranks)
#include <cmath>

__global__ void add_up(const float* x, double* y, long long count, int ranks) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double sum = 0;
    for (int r = 0; r < ranks; ++r) {
        double v = x[r * count + i];
        sum += v / 2 * erfc(-v / sqrt(2.0));          // 1 + erf(t) = erfc(-t)
    }
    y[i] = sum;
}
