//@ problem level1/18
//@ spmm<<<ceildiv(rows*heads*feature, 128), 128>>>(row_ptr, col, weight, x, y, rows, heads, feature)
__global__ void spmm(const int* row_ptr, const int* col, const float* weight, const float* x, double* y,
                     int rows, int heads, int feature) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * heads * feature) return;
    long long f = i % feature, h = i / feature % heads, r = i / feature / heads;
    double sum = 0;
    for (long long e = row_ptr[r]; e < row_ptr[r + 1]; ++e)
        sum += (double)weight[e * heads + h] * x[((long long)col[e] * heads + h) * feature + f];
    y[i] = sum;
}
