//@ problem level1/31
//@ count<<<ceildiv(words, 128), 128>>>(word, y, ranks, words)
__global__ void count(const unsigned* word, int* y, int ranks, int words) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    unsigned any = 0;
    for (long long r = 0; r < ranks; ++r) any |= word[r * words + i];
    y[i] = 0;
    for (int bit = 0; bit < 32; ++bit) y[i] += any >> bit & 1;
}
