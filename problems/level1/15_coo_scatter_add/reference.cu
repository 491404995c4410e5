//@ problem level1/15
//@ zero(y)
//@ add<<<ceildiv(edges*width, 128), 128>>>(target, message, y, edges, width)
__global__ void add(const int* target, const float* message, double* y, int edges, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)edges * width) return;
    long long e = i / width, f = i % width;
    atomicAdd(&y[target[e] * (long long)width + f], (double)message[i]);
}
