//@ problem level2/26
//@ const THREADS = 256
//@ let count = batch*len*heads*hd
//@ scratch f32 turned[batch, len, heads, hd]
//@ turn<<<ceildiv(count/2, THREADS), THREADS>>>(k_new, cosine, sine, position, turned, count/2, heads, pairs)
//@ copy(k_next, k_cache)
//@ copy(v_next, v_cache)
//@ store<<<ceildiv(count, THREADS), THREADS>>>(turned, position, k_next, count, len, heads*hd, cache)
//@ store<<<ceildiv(count, THREADS), THREADS>>>(v_new, position, v_next, count, len, heads*hd, cache)

// A thread turns one pair.
__global__ void turn(const float2* k, const float* cosine, const float* sine, const int* position, float2* turned, size_t count,
                     int heads, int pairs) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    size_t entry = (size_t)position[at / pairs / heads] * pairs + at % pairs;
    float2 v = k[at];
    float c = cosine[entry], s = sine[entry];
    turned[at] = make_float2(v.x * c - v.y * s, v.y * c + v.x * s);
}

__global__ void store(const float* from, const int* position, float* to, size_t count, int len, int width, int cache) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, token = at / width;
    if (at < count) to[(token / len * cache + position[token]) * width + at % width] = from[at];
}
