//@ problem level1/3
//@ const ROWS = 4
//@ spmm<<<(ceildiv(rows, ROWS), ceildiv(k, 32)), (32, ROWS)>>>(row_ptr, col, val, x, y, rows, k)
// A warp makes 32 neighbouring features of one row: the reads of x and the write of y are coalesced.
__global__ void spmm(const int* row_ptr, const int* col, const float* val, const float* x, float* y, int rows, int k) {
    int r = blockIdx.x * ROWS + threadIdx.y, f = blockIdx.y * 32 + threadIdx.x;
    if (r >= rows || f >= k) return;
    float sum = 0.0f;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += val[e] * x[(size_t)col[e] * k + f];
    y[(size_t)r * k + f] = sum;
}
