//@ problem level1/13
//@ scratch f64 far[batch, points]
//@ begin<<<ceildiv(batch*points, 128), 128>>>(far, chosen, batch, points, samples)
//@ for (j = 1; j < samples; ++j) {
//@     update<<<ceildiv(batch*points, 128), 128>>>(point, chosen, far, batch, points, samples, j)
//@     choose<<<ceildiv(batch, 32), 32>>>(far, chosen, batch, points, samples, j)
//@ }
#include <cmath>

__global__ void begin(double* far, long long* chosen, int batch, int points, int samples) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)batch * points) far[i] = INFINITY;
    if (i < batch) chosen[i * samples] = 0;
}

// Distances to sample j - 1; that point itself gets -1, which no other ever has.
__global__ void update(const float* point, const long long* chosen, double* far, int batch, int points, int samples, int j) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)batch * points) return;
    long long b = i / points, c = b * points + chosen[b * samples + j - 1];
    double d2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double d = (double)point[3 * i + axis] - point[3 * c + axis];
        d2 += d * d;
    }
    far[i] = i == c ? -1 : fmin(far[i], d2);
}

__global__ void choose(const double* far, long long* chosen, int batch, int points, int samples, int j) {
    long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    int best = 0;
    for (int i = 1; i < points; ++i)
        if (far[b * points + i] > far[b * points + best]) best = i;
    chosen[b * samples + j] = best;
}
