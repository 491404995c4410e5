//@ problem level1/24
//@ const THREADS = 256, TN = 64, TC = 32, TK = 16, ATOMS = 8
//@ scratch i64 middle[batch, 3]
//@ scratch i32 cell[batch, atoms]
//@ scratch f32 value[batch, atoms, channels]
//@ centers<<<(3, batch), THREADS>>>(position, middle, atoms)
//@ cells<<<ceildiv(batch*atoms, THREADS), THREADS>>>(position, middle, cell, voxel, batch*atoms, atoms, side)
//@ map<<<(ceildiv(batch*atoms, TN), ceildiv(channels, TC)), THREADS>>>(feature, weight, bias, value, batch*atoms,
//@     features, channels)
//@ zero(grid)
//@ add<<<ceildiv(batch*atoms, ATOMS), (32, ATOMS)>>>(value, cell, grid, batch*atoms, channels)
// Quotient rounded down.
__device__ long long floor_div(long long a, long long b) { return a / b - (a % b < 0); }

// A block for each axis of a system.
__global__ void centers(const int* position, long long* middle, int atoms) {
    __shared__ long long part[THREADS];
    const int* from = position + (size_t)blockIdx.y * atoms * 3 + blockIdx.x;
    long long sum = 0;
    for (int n = threadIdx.x; n < atoms; n += THREADS) sum += from[(size_t)n * 3];
    part[threadIdx.x] = sum;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) middle[blockIdx.y * 3 + blockIdx.x] = floor_div(part[0], atoms);
}

__global__ void cells(const int* position, const long long* middle, int* cell, int voxel, int count, int atoms, int side) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int b = i / atoms, at = b;
    for (int a = 0; a < 3; ++a) {
        int place = (int)floor_div(position[(size_t)i * 3 + a] - middle[b * 3 + a], voxel) + side / 2;
        at = at * side + max(0, min(side - 1, place));
    }
    cell[i] = at;
}

// value = feature * weight^T + bias in tiles of TN x TC; each thread makes 4 x 2 values.
__global__ void map(const float* feature, const float* weight, const float* bias, float* value,
                    int count, int features, int channels) {
    __shared__ float a[TK][TN + 1], b[TK][TC + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TN, column = blockIdx.y * TC;
    float sum[4][2] = {};
    for (int first = 0; first < features; first += TK) {
        int k = first + tx;
        for (int r = ty; r < TN; r += 16)
            a[tx][r] = row + r < count && k < features ? feature[(size_t)(row + r) * features + k] : 0.0f;
        for (int c = ty; c < TC; c += 16)
            b[tx][c] = column + c < channels && k < features ? weight[(size_t)(column + c) * features + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TK; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 2; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 2; ++c) {
            int n = row + ty + 16 * r, o = column + tx + 16 * c;
            if (n < count && o < channels) value[(size_t)n * channels + o] = sum[r][c] + bias[o];
        }
}

// A warp for each atom.
__global__ void add(const float* value, const int* cell, float* grid, int count, int channels) {
    int n = blockIdx.x * ATOMS + threadIdx.y;
    if (n >= count) return;
    float* to = grid + (size_t)cell[n] * channels;
    for (int c = threadIdx.x; c < channels; c += 32) atomicAdd(&to[c], value[(size_t)n * channels + c]);
}
