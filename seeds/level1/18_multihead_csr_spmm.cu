//@ problem level1/18
//@ const ROWS = 4
//@ spmm<<<(ceildiv(rows, ROWS), ceildiv(heads*feature, 32)), (32, ROWS)>>>(row_ptr, col, weight, x, y, rows, heads, feature)
// A warp makes 32 neighbouring results of one row, across heads: the reads of x and the write of y are coalesced.
__global__ void spmm(const int* row_ptr, const int* col, const float* weight, const float* x, float* y,
                     int rows, int heads, int feature) {
    int r = blockIdx.x * ROWS + threadIdx.y, i = blockIdx.y * 32 + threadIdx.x, width = heads * feature;
    if (r >= rows || i >= width) return;
    int h = i / feature;
    float sum = 0.0f;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += weight[(size_t)e * heads + h] * x[(size_t)col[e] * width + i];
    y[(size_t)r * width + i] = sum;
}
