//@ problem level2/9
//@ advance<<<ceildiv(chains, 64), 64>>>(x, noise, u, center, width, x_next, accepted, margin, alternative, step, chains, dim)
#include <cmath>

__global__ void advance(const float* x, const float* noise, const float* u, const float* center, const float* width,
                        double* x_next, bool* accepted, double* margin, double* alternative, float step, int chains, int dim) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chains) return;
    long long first = (long long)c * dim;
    double before = 0, after = 0;
    for (int d = 0; d < dim; ++d) {
        double old_place = x[first + d], new_place = old_place + (double)step * noise[first + d];
        before += 0.5 * pow((old_place - center[d]) / width[d], 2);
        after += 0.5 * pow((new_place - center[d]) / width[d], 2);
    }
    double threshold = log(fmax((double)u[c], 1e-10));
    bool accept = threshold < before - after;
    for (int d = 0; d < dim; ++d) {
        double old_place = x[first + d], new_place = old_place + (double)step * noise[first + d];
        x_next[first + d] = accept ? new_place : old_place;
        alternative[first + d] = accept ? old_place : new_place;
    }
    accepted[c] = accept;
    margin[c] = fabs(before - after - threshold) / (1 + before + after);
}
