//@ problem level1/19
//@ distances<<<ceildiv(batch*points*points, 128), 128>>>(x, dist, batch, points, axes)
__global__ void distances(const float* x, double* dist, int batch, int points, int axes) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)batch * points * points) return;
    long long j = at % points, i = at / points % points, b = at / points / points;
    double sum = 1e-8;
    for (int c = 0; c < axes; ++c) {
        double d = (double)x[(b * points + i) * axes + c] - x[(b * points + j) * axes + c];
        sum += d * d;
    }
    dist[at] = sqrt(sum);
}
