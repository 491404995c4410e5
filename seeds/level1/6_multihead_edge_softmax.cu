//@ problem level1/6
//@ const ROWS = 8
//@ let width = pow2ceil(min(heads, 32)), tiles = ceildiv(heads, width)
//@ scratch f32 top[rows, heads], sum[rows, heads]
//@ row_max<<<(ceildiv(rows, ROWS), tiles), (32, ROWS)>>>(row_ptr, score, top, rows, heads, width)
//@ row_exp<<<(ceildiv(rows, ROWS), tiles), (32, ROWS)>>>(row_ptr, score, top, alpha, rows, heads, width)
//@ row_sum<<<(ceildiv(rows, ROWS), tiles), (32, ROWS)>>>(row_ptr, alpha, sum, rows, heads, width)
//@ divide<<<(ceildiv(rows, ROWS), tiles), (32, ROWS)>>>(row_ptr, sum, alpha, rows, heads, width)
#include <cmath>

// A warp for each row and tile of `width` heads in all four kernels: neighbouring lanes take neighbouring heads of an edge,
// and 32 / width edges go at a time.
struct Lane {
    int row, head, step;   // edges begin + first, begin + first + step, ..
    int first;
    bool on;
    __device__ Lane(int rows, int heads, int width)
        : row(blockIdx.x * ROWS + threadIdx.y), head(blockIdx.y * width + threadIdx.x % width), step(32 / width),
          first(threadIdx.x / width), on(row < rows && head < heads) {}
};

__global__ void row_max(const int* row_ptr, const float* score, float* top, int rows, int heads, int width) {
    Lane at(rows, heads, width);
    float best = -INFINITY;
    if (at.on)
        for (int e = row_ptr[at.row] + at.first; e < row_ptr[at.row + 1]; e += at.step)
            best = fmaxf(best, score[(size_t)e * heads + at.head]);
    for (int lane = 16; lane >= width; lane /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, lane));
    if (at.on && at.first == 0) top[(size_t)at.row * heads + at.head] = best;
}

__global__ void row_exp(const int* row_ptr, const float* score, const float* top, float* alpha,
                        int rows, int heads, int width) {
    Lane at(rows, heads, width);
    if (!at.on) return;
    float most = top[(size_t)at.row * heads + at.head];
    for (int e = row_ptr[at.row] + at.first; e < row_ptr[at.row + 1]; e += at.step)
        alpha[(size_t)e * heads + at.head] = expf(score[(size_t)e * heads + at.head] - most);
}

__global__ void row_sum(const int* row_ptr, const float* alpha, float* sum, int rows, int heads, int width) {
    Lane at(rows, heads, width);
    float total = 0.0f;
    if (at.on)
        for (int e = row_ptr[at.row] + at.first; e < row_ptr[at.row + 1]; e += at.step)
            total += alpha[(size_t)e * heads + at.head];
    for (int lane = 16; lane >= width; lane /= 2) total += __shfl_xor_sync(0xffffffffu, total, lane);
    if (at.on && at.first == 0) sum[(size_t)at.row * heads + at.head] = total;
}

__global__ void divide(const int* row_ptr, const float* sum, float* alpha, int rows, int heads, int width) {
    Lane at(rows, heads, width);
    if (!at.on) return;
    float total = sum[(size_t)at.row * heads + at.head];
    for (int e = row_ptr[at.row] + at.first; e < row_ptr[at.row + 1]; e += at.step)
        alpha[(size_t)e * heads + at.head] /= total;
}
