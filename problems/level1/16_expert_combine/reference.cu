//@ problem level1/16
//@ zero(combined)
//@ combine<<<ceildiv(rows*width, 128), 128>>>(hidden, owner, gate, combined, rows, width)
__global__ void combine(const float* hidden, const int* owner, const float* gate, double* combined, int rows, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * width) return;
    long long r = i / width, f = i % width;
    atomicAdd(&combined[owner[r] * (long long)width + f], (double)gate[r] * hidden[i]);
}
