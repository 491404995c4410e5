//@ problem level1/12
//@ dispatch<<<ceildiv(tokens*choices*width, 128), 128>>>(token, place, packed, tokens, choices, width)
__global__ void dispatch(const float* token, const int* place, double* packed, int tokens, int choices, int width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)tokens * choices * width) return;
    long long f = i % width, copy = i / width, t = copy / choices;
    packed[place[copy] * (long long)width + f] = token[t * width + f];
}
