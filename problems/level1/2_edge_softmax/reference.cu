//@ problem level1/2
//@ edge_softmax<<<ceildiv(rows, 128), 128>>>(row_ptr, score, alpha, rows)
#include <cmath>

__global__ void edge_softmax(const int* row_ptr, const float* score, double* alpha, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double top = -INFINITY, sum = 0;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) top = fmax(top, (double)score[e]);
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) {
        alpha[e] = exp(score[e] - top);
        sum += alpha[e];
    }
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) alpha[e] /= sum;
}
