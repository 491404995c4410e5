//@ problem level3/3
//@ const THREADS = 256, T = 32
//@ let count = batch*channels*height*width, images = batch*channels, tiles = ceildiv(width, T)*ceildiv(height, T)
//@ scratch f32 s[batch, channels, height*width], c[batch, channels, height*width]
//@ copy(y, x)
//@ conv<<<ceildiv(count, THREADS), THREADS>>>(x, w, bias, c, count, channels, height*width)
//@ add<false><<<ceildiv(count, THREADS), THREADS>>>(c, y, count, width)
//@ flip<<<ceildiv(count, THREADS), THREADS>>>(x, s, count, width)
//@ conv<<<ceildiv(count, THREADS), THREADS>>>(s, w, bias, c, count, channels, height*width)
//@ add<true><<<ceildiv(count, THREADS), THREADS>>>(c, y, count, width)
//@ turn<false><<<(images, tiles), (T, 8)>>>(x, s, height, width)
//@ conv<<<ceildiv(count, THREADS), THREADS>>>(s, w, bias, c, count, channels, height*width)
//@ add_turned<false><<<(images, tiles), (T, 8)>>>(c, y, height, width)
//@ turn<true><<<(images, tiles), (T, 8)>>>(x, s, height, width)
//@ conv<<<ceildiv(count, THREADS), THREADS>>>(s, w, bias, c, count, channels, height*width)
//@ add_turned<true><<<(images, tiles), (T, 8)>>>(c, y, height, width)

// Three taps over sequences of `length`.
__global__ void conv(const float* s, const float* w, const float* bias, float* out, size_t count, int channels, int length) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    int n = (int)(at % length), c = (int)(at / length % channels);
    float before = n > 0 ? s[at - 1] : 0.0f, after = n + 1 < length ? s[at + 1] : 0.0f;
    out[at] = bias[c] + w[c * 3] * before + w[c * 3 + 1] * s[at] + w[c * 3 + 2] * after;
}

// Rows backwards.
__device__ size_t mirrored(size_t at, int width) { return at + width - 1 - 2 * (at % width); }

__global__ void flip(const float* x, float* s, size_t count, int width) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) s[at] = x[mirrored(at, width)];
}

template <bool FLIP>
__global__ void add(const float* c, float* y, size_t count, int width) {
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) y[at] += c[FLIP ? mirrored(at, width) : at];
}

// An image by columns; FLIP: columns backwards. blockIdx.y counts tiles of T x T, those of a row of tiles together.
template <bool FLIP>
__global__ void turn(const float* x, float* s, int height, int width) {
    __shared__ float tile[T][T + 1];
    int across = (width + T - 1) / T, i0 = blockIdx.y / across * T, j0 = blockIdx.y % across * T, tx = threadIdx.x;
    size_t first = (size_t)blockIdx.x * height * width;
    for (int r = threadIdx.y; r < T; r += 8)
        if (i0 + r < height && j0 + tx < width) tile[r][tx] = x[first + (i0 + r) * width + j0 + tx];
    __syncthreads();
    for (int r = threadIdx.y; r < T; r += 8)
        if (i0 + tx < height && j0 + r < width)
            s[first + (j0 + r) * height + (FLIP ? height - 1 - i0 - tx : i0 + tx)] = tile[tx][r];
}

// The way back, added to y.
template <bool FLIP>
__global__ void add_turned(const float* c, float* y, int height, int width) {
    __shared__ float tile[T][T + 1];
    int across = (width + T - 1) / T, i0 = blockIdx.y / across * T, j0 = blockIdx.y % across * T, tx = threadIdx.x;
    size_t first = (size_t)blockIdx.x * height * width;
    for (int r = threadIdx.y; r < T; r += 8)
        if (i0 + tx < height && j0 + r < width)
            tile[tx][r] = c[first + (j0 + r) * height + (FLIP ? height - 1 - i0 - tx : i0 + tx)];
    __syncthreads();
    for (int r = threadIdx.y; r < T; r += 8)
        if (i0 + r < height && j0 + tx < width) y[first + (i0 + r) * width + j0 + tx] += tile[r][tx];
}
