//@ problem level1/4
//@ test<<<ceildiv(pairs, 128), 128>>>(center, extent, triangle, overlap, pairs)
#include <cmath>

// Smallest and largest product of n points with the axis.
__device__ void project(const double* points, int n, double ax, double ay, double* low, double* high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < n; ++i) {
        double along = points[2 * i] * ax + points[2 * i + 1] * ay;
        *low = fmin(*low, along);
        *high = fmax(*high, along);
    }
}

__global__ void test(const float* center, const float* extent, const float* triangle, bool* overlap, int pairs) {
    long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    double box[8], corner[6];
    for (int i = 0; i < 4; ++i) {
        box[2 * i] = (double)center[2 * p] + (i % 2 ? 1 : -1) * extent[2 * p];
        box[2 * i + 1] = (double)center[2 * p + 1] + (i / 2 ? 1 : -1) * extent[2 * p + 1];
    }
    for (int i = 0; i < 6; ++i) corner[i] = triangle[6 * p + i];
    bool apart = false;
    for (int axis = 0; axis < 5; ++axis) {
        double ax = axis == 0, ay = axis == 1, low[2], high[2];
        if (axis >= 2) {
            int from = axis - 2, to = (axis - 1) % 3;
            ax = corner[2 * from + 1] - corner[2 * to + 1];
            ay = corner[2 * to] - corner[2 * from];
        }
        project(box, 4, ax, ay, &low[0], &high[0]);
        project(corner, 3, ax, ay, &low[1], &high[1]);
        if (high[0] < low[1] || high[1] < low[0]) apart = true;
    }
    overlap[p] = !apart;
}
