//@ problem level2/33
//@ const THREADS = 256
//@ scratch f32 turn[batch, 9], turned[batch, points, 3]
//@ matrices<<<ceildiv(batch, THREADS), THREADS>>>(quat, turn, batch)
//@ rotate<<<ceildiv(batch*points*3, THREADS), THREADS>>>(point, turn, turned, batch*points*3, 3*points)
//@ add<<<ceildiv(batch*points*3, THREADS), THREADS>>>(turned, shift, moved, batch*points*3, 3*points)
__global__ void matrices(const float* quat, float* turn, int batch) {
    int b = blockIdx.x * THREADS + threadIdx.x;
    if (b >= batch) return;
    float w = quat[b * 4], x = quat[b * 4 + 1], y = quat[b * 4 + 2], z = quat[b * 4 + 3];
    float s = 2.0f / (w * w + x * x + y * y + z * z);
    float* r = turn + (size_t)b * 9;
    r[0] = 1.0f - s * (y * y + z * z);
    r[1] = s * (x * y - w * z);
    r[2] = s * (x * z + w * y);
    r[3] = s * (x * y + w * z);
    r[4] = 1.0f - s * (x * x + z * z);
    r[5] = s * (y * z - w * x);
    r[6] = s * (x * z - w * y);
    r[7] = s * (y * z + w * x);
    r[8] = 1.0f - s * (x * x + y * y);
}

// A thread for each coordinate; `each` coordinates belong to one cloud.
__global__ void rotate(const float* point, const float* turn, float* turned, size_t count, int each) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const float* row = turn + i / each * 9 + i % 3 * 3;
    const float* p = point + i / 3 * 3;
    turned[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2];
}

__global__ void add(const float* turned, const float* shift, float* moved, size_t count, int each) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) moved[i] = turned[i] + shift[i / each * 3 + i % 3];
}
