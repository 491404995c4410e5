//@ problem level1/19
//@ const THREADS = 256
//@ squares<<<(points*batch, ceildiv(points, THREADS)), THREADS>>>(x, dist, points, axes)
//@ roots<<<ceildiv(batch*points*points, THREADS), THREADS>>>(dist, batch, points)
__global__ void squares(const float* x, float* dist, int points, int axes) {
    int j = blockIdx.y * THREADS + threadIdx.x;
    if (j >= points) return;
    const float* a = x + (size_t)blockIdx.x * axes;                         // point i of cloud b: blockIdx.x = b*points + i
    const float* b = x + ((size_t)blockIdx.x / points * points + j) * axes;
    float sum = 0.0f;
    for (int c = 0; c < axes; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    dist[(size_t)blockIdx.x * points + j] = sum;
}

__global__ void roots(float* dist, int batch, int points) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (size_t)batch * points * points) dist[i] = sqrtf(dist[i] + 1e-8f);
}
