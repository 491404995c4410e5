//@ problem level1/28
//@ likelihood<<<ceildiv(rows, 32), 32>>>(count, log_alpha, y, size, rows, categories)
#include <cmath>

__global__ void likelihood(const int* count, const float* log_alpha, double* y, double* size, int rows, int categories) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    double sum = 0, magnitude = 0, all_alpha = 0, all_count = 0;
    for (int k = 0; k < categories; ++k) {
        double n = count[(long long)i * categories + k], alpha = exp((double)log_alpha[k]);
        double posterior = lgamma(n + alpha), prior = lgamma(alpha);
        sum += posterior - prior;
        magnitude += fabs(posterior) + fabs(prior);
        all_alpha += alpha;
        all_count += n;
    }
    double posterior = lgamma(all_count + all_alpha), prior = lgamma(all_alpha);
    y[i] = prior - posterior + sum;
    size[i] = fabs(prior) + fabs(posterior) + magnitude;
}
