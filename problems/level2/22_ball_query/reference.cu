//@ problem level2/22
//@ pool<<<ceildiv(batch*queries, 64), 64>>>(point, center, feature, pooled, radius2, batch, points, queries, channels)
__global__ void pool(const float* point, const float* center, const float* feature, double* pooled, float radius2,
                     int batch, int points, int queries, int channels) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)batch * queries) return;
    long long first = i / queries * points;
    double cx = center[i * 3], cy = center[i * 3 + 1], cz = center[i * 3 + 2];
    for (int c = 0; c < channels; ++c) pooled[i * channels + c] = 0;
    bool any = false;
    for (long long p = first; p < first + points; ++p) {
        double dx = cx - point[p * 3], dy = cy - point[p * 3 + 1], dz = cz - point[p * 3 + 2];
        if (dx * dx + dy * dy + dz * dz > radius2) continue;
        for (int c = 0; c < channels; ++c) {
            double f = feature[p * channels + c];
            pooled[i * channels + c] = any ? fmax(pooled[i * channels + c], f) : f;
        }
        any = true;
    }
}
