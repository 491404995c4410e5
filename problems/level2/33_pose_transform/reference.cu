//@ problem level2/33
//@ move<<<ceildiv(batch*points, 128), 128>>>(point, quat, shift, moved, batch*points, points)
__global__ void move(const float* point, const float* quat, const float* shift, double* moved, long long count, int points) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    long long b = i / points;
    double w = quat[b * 4], x = quat[b * 4 + 1], y = quat[b * 4 + 2], z = quat[b * 4 + 3];
    double s = 2 / (w * w + x * x + y * y + z * z);
    double turn[3][3] = {{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                         {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                         {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
    for (int r = 0; r < 3; ++r) {
        double sum = shift[b * 3 + r];
        for (int c = 0; c < 3; ++c) sum += turn[r][c] * point[i * 3 + c];
        moved[i * 3 + r] = sum;
    }
}
