//@ problem level1/21
//@ expand<<<ceildiv(batch*atoms*atoms*terms, 128), 128>>>(distance, center, basis, cutoff, sharpness, batch*atoms*atoms, terms)
#include <cmath>

__global__ void expand(const float* distance, const float* center, double* basis, float cutoff, float sharpness,
                       long long pairs, int terms) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs * terms) return;
    double d = distance[i / terms], off = d - center[i % terms];
    double fade = d < cutoff ? (cos(3.14159265358979323846 * d / cutoff) + 1) / 2 : 0;
    basis[i] = fade * exp(-sharpness * off * off);
}
