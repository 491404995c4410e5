//@ problem level2/26
//@ let turned = batch*len*heads*pairs, count = batch*cache*heads*hd
//@ widen<<<ceildiv(count, 128), 128>>>(k_cache, k_next, count)
//@ widen<<<ceildiv(count, 128), 128>>>(v_cache, v_next, count)
//@ turn<<<ceildiv(turned, 128), 128>>>(k_new, cosine, sine, position, k_next, turned, len, heads, pairs, cache)
//@ store<<<ceildiv(2*turned, 128), 128>>>(v_new, position, v_next, 2*turned, len, heads*hd, cache)

__global__ void widen(const float* from, double* to, long long count) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) to[at] = from[at];
}

__global__ void turn(const float* k, const float* cosine, const float* sine, const int* position, double* k_next,
                     long long count, int len, int heads, int pairs, int cache) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long i = at % pairs, h = at / pairs % heads, token = at / pairs / heads, place = position[token];
    double a = k[2 * at], b = k[2 * at + 1], c = cosine[place * pairs + i], s = sine[place * pairs + i];
    double* to = k_next + (((token / len * cache + place) * heads + h) * pairs + i) * 2;
    to[0] = a * c - b * s;
    to[1] = b * c + a * s;
}

__global__ void store(const float* v, const int* position, double* v_next, long long count, int len, int width, int cache) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    long long token = at / width;
    v_next[(token / len * cache + position[token]) * width + at % width] = v[at];
}
