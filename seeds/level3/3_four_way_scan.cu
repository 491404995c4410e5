//@ problem level3/3
//@ const THREADS = 256, SPAN = 4*THREADS, T = 32
//@ let length = height*width, spans = ceildiv(length, SPAN), images = batch*channels, tiles = ceildiv(width, T)*ceildiv(height, T)
//@ scratch f32 s[images, length], c[images, length]
//@ copy(y, x)
//@ conv<<<(images, spans), THREADS>>>(x, w, bias, c, channels, length)
//@ add<false><<<(images, spans), THREADS>>>(c, y, length, width)
//@ flip<<<(images, spans), THREADS>>>(x, s, length, width)
//@ conv<<<(images, spans), THREADS>>>(s, w, bias, c, channels, length)
//@ add<true><<<(images, spans), THREADS>>>(c, y, length, width)
//@ turn<false><<<(images, tiles), (T, 8)>>>(x, s, height, width)
//@ conv<<<(images, spans), THREADS>>>(s, w, bias, c, channels, length)
//@ add_turned<false><<<(images, tiles), (T, 8)>>>(c, y, height, width)
//@ turn<true><<<(images, tiles), (T, 8)>>>(x, s, height, width)
//@ conv<<<(images, spans), THREADS>>>(s, w, bias, c, channels, length)
//@ add_turned<true><<<(images, tiles), (T, 8)>>>(c, y, height, width)

// Each block of these three has SPAN places of one image. Three taps over sequences of `length`:
__global__ void conv(const float* __restrict__ s, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ out, int channels, int length) {
    int c = blockIdx.x % channels, end = min(length, (int)(blockIdx.y + 1) * SPAN);
    float shift = bias[c], w0 = w[c * 3], w1 = w[c * 3 + 1], w2 = w[c * 3 + 2];
#pragma unroll 4
    for (int n = blockIdx.y * SPAN + threadIdx.x; n < end; n += THREADS) {
        const float* at = s + (size_t)blockIdx.x * length + n;
        float before = n > 0 ? at[-1] : 0.0f, after = n + 1 < length ? at[1] : 0.0f;
        out[(size_t)blockIdx.x * length + n] = shift + w0 * before + w1 * at[0] + w2 * after;
    }
}

// Rows backwards.
__device__ int mirrored(int n, int width) { return n + width - 1 - 2 * (n % width); }

__global__ void flip(const float* __restrict__ x, float* __restrict__ s, int length, int width) {
    size_t first = (size_t)blockIdx.x * length;
    int end = min(length, (int)(blockIdx.y + 1) * SPAN);
#pragma unroll 4
    for (int n = blockIdx.y * SPAN + threadIdx.x; n < end; n += THREADS) s[first + n] = x[first + mirrored(n, width)];
}

template <bool FLIP>
__global__ void add(const float* __restrict__ c, float* __restrict__ y, int length, int width) {
    size_t first = (size_t)blockIdx.x * length;
    int end = min(length, (int)(blockIdx.y + 1) * SPAN);
#pragma unroll 4
    for (int n = blockIdx.y * SPAN + threadIdx.x; n < end; n += THREADS) y[first + n] += c[first + (FLIP ? mirrored(n, width) : n)];
}

// An image by columns; FLIP: columns backwards. blockIdx.y counts tiles of T x T, those of a row of tiles together.
template <bool FLIP>
__global__ void turn(const float* __restrict__ x, float* __restrict__ s, int height, int width) {
    __shared__ float tile[T][T + 1];
    int across = (width + T - 1) / T, i0 = blockIdx.y / across * T, j0 = blockIdx.y % across * T, tx = threadIdx.x;
    size_t first = (size_t)blockIdx.x * height * width;
    for (int r = threadIdx.y; r < threadIdx.y + T; r += 8)
        if (i0 + r < height && j0 + tx < width) tile[r][tx] = x[first + (i0 + r) * width + j0 + tx];
    __syncthreads();
    for (int r = threadIdx.y; r < threadIdx.y + T; r += 8)
        if (i0 + tx < height && j0 + r < width)
            s[first + (j0 + r) * height + (FLIP ? height - 1 - i0 - tx : i0 + tx)] = tile[tx][r];
}

// The way back, added to y.
template <bool FLIP>
__global__ void add_turned(const float* __restrict__ c, float* __restrict__ y, int height, int width) {
    __shared__ float tile[T][T + 1];
    int across = (width + T - 1) / T, i0 = blockIdx.y / across * T, j0 = blockIdx.y % across * T, tx = threadIdx.x, ty = threadIdx.y;
    size_t first = (size_t)blockIdx.x * height * width;
    float old[T / 8];
    for (int q = 0; q < T / 8; ++q) {
        int r = ty + 8 * q;
        if (i0 + tx < height && j0 + r < width)
            tile[tx][r] = c[first + (j0 + r) * height + (FLIP ? height - 1 - i0 - tx : i0 + tx)];
        old[q] = i0 + r < height && j0 + tx < width ? y[first + (i0 + r) * width + j0 + tx] : 0.0f;
    }
    __syncthreads();
    for (int q = 0; q < T / 8; ++q) {
        int r = ty + 8 * q;
        if (i0 + r < height && j0 + tx < width) y[first + (i0 + r) * width + j0 + tx] = old[q] + tile[r][tx];
    }
}
