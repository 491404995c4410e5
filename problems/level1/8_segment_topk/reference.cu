//@ problem level1/8
//@ top_k<<<ceildiv(rows, 64), 64>>>(row_ptr, value, top, edge, rows, k)
#include <cmath>

// Place after place: the first of the largest values among the edges that come after the one chosen before.
__global__ void top_k(const int* row_ptr, const float* value, double* top, long long* edge, int rows, int k) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double last_value = INFINITY;
    long long last_edge = -1;
    for (int j = 0; j < k; ++j) {
        double best = -INFINITY;
        long long from = -1;
        for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) {
            bool open = value[e] < last_value || (value[e] == last_value && e > last_edge);
            if (open && value[e] > best) {
                best = value[e];
                from = e;
            }
        }
        top[(long long)r * k + j] = best;
        edge[(long long)r * k + j] = from;
        last_value = best;
        last_edge = from;
    }
}
