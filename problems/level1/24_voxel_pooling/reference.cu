//@ problem level1/24
//@ scratch i64 middle[batch, 3]
//@ centers<<<batch, 3>>>(position, middle, atoms)
//@ zero(grid)
//@ pool<<<ceildiv(batch*atoms*channels, 128), 128>>>(position, feature, weight, bias, middle, grid, voxel, batch, atoms,
//@     features, channels, side)
__device__ long long floor_div(long long a, long long b) {
    long long q = a / b;
    return a % b < 0 ? q - 1 : q;
}

__global__ void centers(const int* position, long long* middle, int atoms) {
    long long sum = 0;
    for (int n = 0; n < atoms; ++n) sum += position[((long long)blockIdx.x * atoms + n) * 3 + threadIdx.x];
    middle[blockIdx.x * 3 + threadIdx.x] = floor_div(sum, atoms);
}

__global__ void pool(const int* position, const float* feature, const float* weight, const float* bias, const long long* middle,
                     double* grid, int voxel, int batch, int atoms, int features, int channels, int side) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)batch * atoms * channels) return;
    long long c = i % channels, atom = i / channels, b = atom / atoms, cell = b;
    for (int a = 0; a < 3; ++a) {
        long long at = floor_div(position[atom * 3 + a] - middle[b * 3 + a], voxel) + side / 2;
        at = at < 0 ? 0 : at > side - 1 ? side - 1 : at;
        cell = cell * side + at;
    }
    double value = bias[c];
    for (int f = 0; f < features; ++f) value += (double)weight[c * features + f] * feature[atom * features + f];
    atomicAdd(&grid[cell * channels + c], value);
}
