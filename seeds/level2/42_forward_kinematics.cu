//@ problem level2/42
//@ const THREADS = 256, CHAINS = 128, COLUMNS = 32
//@ let count = chains*joints
//@ scratch f32 angle[chains, joints], step[chains, joints, 2]
//@ add_up<1><<<ceildiv(chains, CHAINS), THREADS>>>(theta, angle, chains, joints)
//@ steps<<<ceildiv(count, THREADS), THREADS>>>(angle, link, step, count, joints)
//@ add_up<2><<<ceildiv(chains, CHAINS), THREADS>>>(step, place, chains, 2*joints)
#include <cmath>

// Running sums along rows of `width` numbers, in which PARTS sequences lie side by side. A block takes CHAINS rows through shared
// memory, COLUMNS at a time; a thread goes along one sequence of one row.
template <int PARTS>
__global__ void add_up(const float* from, float* to, int chains, int width) {
    __shared__ float tile[CHAINS][COLUMNS + 1];
    int row = threadIdx.x / PARTS, part = threadIdx.x % PARTS, rows = min(CHAINS, chains - (int)blockIdx.x * CHAINS);
    size_t start = (size_t)blockIdx.x * CHAINS * width;
    float sum = 0.0f;
    for (int first = 0; first < width; first += COLUMNS) {
        int columns = min(COLUMNS, width - first);
        for (int e = threadIdx.x; e < rows * columns; e += THREADS)
            tile[e / columns][e % columns] = from[start + (size_t)(e / columns) * width + first + e % columns];
        __syncthreads();
        if (row < rows)
            for (int c = part; c < columns; c += PARTS) {
                sum += tile[row][c];
                tile[row][c] = sum;
            }
        __syncthreads();
        for (int e = threadIdx.x; e < rows * columns; e += THREADS)
            to[start + (size_t)(e / columns) * width + first + e % columns] = tile[e / columns][e % columns];
        __syncthreads();
    }
}

__global__ void steps(const float* angle, const float* link, float* step, size_t count, int joints) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float length = link[i % joints];
    step[i * 2] = length * cosf(angle[i]);
    step[i * 2 + 1] = length * sinf(angle[i]);
}
