//@ problem level1/6
//@ edge_softmax<<<ceildiv(rows*heads, 128), 128>>>(row_ptr, score, alpha, rows, heads)
#include <cmath>

__global__ void edge_softmax(const int* row_ptr, const float* score, double* alpha, int rows, int heads) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * heads) return;
    long long r = i / heads, h = i % heads, begin = row_ptr[r], end = row_ptr[r + 1];
    double top = -INFINITY, sum = 0;
    for (long long e = begin; e < end; ++e) top = fmax(top, (double)score[e * heads + h]);
    for (long long e = begin; e < end; ++e) {
        alpha[e * heads + h] = exp(score[e * heads + h] - top);
        sum += alpha[e * heads + h];
    }
    for (long long e = begin; e < end; ++e) alpha[e * heads + h] /= sum;
}
