//@ problem level1/10
//@ products<<<ceildiv(edges, 128), 128>>>(from, to, source, target, score, edges, width)
__global__ void products(const int* from, const int* to, const float* source, const float* target, double* score,
                         int edges, int width) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    double sum = 0;
    for (int f = 0; f < width; ++f)
        sum += (double)source[(long long)from[e] * width + f] * target[(long long)to[e] * width + f];
    score[e] = sum;
}
