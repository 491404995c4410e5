//@ problem level2/23
//@ renew<<<ceildiv(chains, 32), 32>>>(x, mu, precision, noise, x_next, chains, dim)
#include <cmath>

// A thread follows one chain. x_next holds the old coordinates from i on, the new ones before.
__global__ void renew(const float* x, const float* mu, const float* precision, const float* noise, double* x_next, int chains,
                      int dim) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chains) return;
    double* at = x_next + (long long)c * dim;
    for (int i = 0; i < dim; ++i) at[i] = x[(long long)c * dim + i];
    for (int i = 0; i < dim; ++i) {
        double rest = 0, own = precision[i * dim + i];
        for (int j = 0; j < dim; ++j)
            if (j != i) rest += precision[i * dim + j] * (at[j] - mu[j]);
        at[i] = mu[i] - rest / own + noise[(long long)c * dim + i] / sqrt(own);
    }
}
