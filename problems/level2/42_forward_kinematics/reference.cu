//@ problem level2/42
//@ walk<<<ceildiv(chains, 64), 64>>>(theta, link, place, chains, joints)
#include <cmath>

__global__ void walk(const float* theta, const float* link, double* place, long long chains, int joints) {
    long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= chains) return;
    double angle = 0, x = 0, y = 0;
    for (int j = 0; j < joints; ++j) {
        angle += theta[b * joints + j];
        x += link[j] * cos(angle);
        y += link[j] * sin(angle);
        place[(b * joints + j) * 2] = x;
        place[(b * joints + j) * 2 + 1] = y;
    }
}
