//@ problem level1/31
//@ const THREADS = 256
//@ scratch u32 any[words]
//@ unite<<<ceildiv(words, THREADS), THREADS>>>(word, any, ranks, words)
//@ count<<<ceildiv(words, THREADS), THREADS>>>(any, y, words)
__global__ void unite(const unsigned* word, unsigned* any, int ranks, size_t words) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= words) return;
    unsigned bits = 0;
    for (int r = 0; r < ranks; ++r) bits |= word[r * words + i];
    any[i] = bits;
}

__global__ void count(const unsigned* any, int* y, size_t words) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < words) y[i] = __popc(any[i]);
}
