//@ problem level1/28
//@ likelihood<<<ceildiv(rows, 32), 32>>>(count, log_alpha, y, size, rows, categories)
#include <cmath>

__global__ void likelihood(const int* count, const float* log_alpha, double* y, double* size, int rows, int categories) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    double sum = 0, magnitude = 0, all_alpha = 0, all_count = 0;
    for (int k = 0; k < categories; ++k) {
        double n = count[(long long)i * categories + k], alpha = exp((double)log_alpha[k]);
        sum += lgamma(n + alpha) - lgamma(alpha);
        magnitude += fabs(lgamma(n + alpha)) + fabs(lgamma(alpha));
        all_alpha += alpha;
        all_count += n;
    }
    y[i] = lgamma(all_alpha) - lgamma(all_count + all_alpha) + sum;
    size[i] = fabs(lgamma(all_alpha)) + fabs(lgamma(all_count + all_alpha)) + magnitude;
}
