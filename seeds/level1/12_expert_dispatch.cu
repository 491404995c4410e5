//@ problem level1/12
//@ const ROWS = 8
//@ dispatch<<<ceildiv(tokens*choices, ROWS), (32, ROWS)>>>(token, place, packed, tokens*choices, choices, width)
// A warp copies one row: reads and writes are coalesced.
__global__ void dispatch(const float* token, const int* place, float* packed, int copies, int choices, int width) {
    int copy = blockIdx.x * ROWS + threadIdx.y;
    if (copy >= copies) return;
    const float* from = token + (size_t)(copy / choices) * width;
    float* to = packed + (size_t)place[copy] * width;
    for (int f = threadIdx.x; f < width; f += 32) to[f] = from[f];
}
