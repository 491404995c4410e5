//@ problem level1/8
//@ const THREADS = 256, LANES = 8
//@ top_k<<<ceildiv(rows, THREADS/LANES), THREADS>>>(row_ptr, value, top, edge, rows, k)
#include <cmath>

// LANES lanes for each row take one place after another: each lane offers its best open edge, and the lanes compare.
__global__ void top_k(const int* row_ptr, const float* value, float* top, long long* edge, int rows, int k) {
    int r = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES, none = 0x7fffffff;
    int first = r < rows ? row_ptr[r] : 0, end = r < rows ? row_ptr[r + 1] : 0;
    float last_value = INFINITY;
    int last_edge = -1;
    for (int j = 0; j < k; ++j) {
        float best = -INFINITY;
        int from = none;
        for (int e = first + lane; e < end; e += LANES) {
            float v = value[e];
            if ((v < last_value || (v == last_value && e > last_edge)) && v > best) best = v, from = e;
        }
        for (int step = LANES / 2; step > 0; step /= 2) {
            float v = __shfl_xor_sync(0xffffffffu, best, step);
            int e = __shfl_xor_sync(0xffffffffu, from, step);
            if (v > best || (v == best && e < from)) best = v, from = e;
        }
        if (lane == 0 && r < rows) {
            top[(size_t)r * k + j] = best;
            edge[(size_t)r * k + j] = from == none ? -1 : from;
        }
        last_value = best, last_edge = from;
    }
}
