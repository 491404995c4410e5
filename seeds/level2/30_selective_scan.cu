//@ problem level2/30
//@ const THREADS = 256, TILE = 64, DEPTH = 16, LANES = 16, PART = 8
//@ let times = batch*len, tiles = ceildiv(times, TILE)
//@ scratch f32 delta[batch, len, channels], u[batch, len, state], v[batch, len, state], rate[channels, state]
//@ linear<4><<<(tiles, ceildiv(channels, 64)), THREADS>>>(x, w_delta, delta, times, channels, channels)
//@ linear<1><<<(tiles, ceildiv(state, 16)), THREADS>>>(x, w_u, u, times, channels, state)
//@ linear<1><<<(tiles, ceildiv(state, 16)), THREADS>>>(x, w_v, v, times, channels, state)
//@ softplus<<<ceildiv(times*channels, THREADS), THREADS>>>(delta, b_delta, times*channels, channels)
//@ exponential<<<ceildiv(channels*state, THREADS), THREADS>>>(a_log, rate, channels*state)
//@ scan<<<(ceildiv(channels, PART), batch), (LANES, PART)>>>(x, delta, u, v, rate, y, len, channels, state)
//@ add_skip<<<ceildiv(times*channels, THREADS), THREADS>>>(x, skip, y, times*channels, channels)

// y = x w^T in tiles of TILE x 16 C; a thread makes 4 x C.
template <int C>
__global__ void linear(const float* x, const float* w, float* y, int rows, int in, int out) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][16 * C + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * TILE, column = blockIdx.y * 16 * C;
    float sum[4][C] = {};
    for (int first = 0; first < in; first += DEPTH) {
        int k = first + tx;
        for (int r = ty; r < TILE; r += 16) a[tx][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
        for (int c = ty; c < 16 * C; c += 16) b[tx][c] = column + c < out && k < in ? w[(size_t)(column + c) * in + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty + 16 * r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < C; ++c) {
            int i = row + ty + 16 * r, o = column + tx + 16 * c;
            if (i < rows && o < out) y[(size_t)i * out + o] = sum[r][c];
        }
}

__global__ void softplus(float* v, const float* bias, size_t count, int channels) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    float a = v[i] + bias[i % channels];
    v[i] = fmaxf(a, 0.0f) + log1pf(expf(-fabsf(a)));
}

__global__ void exponential(const float* a_log, float* rate, int count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) rate[i] = expf(a_log[i]);
}

// LANES threads share the states of one channel, up to four each; a block follows PART neighbouring channels.
__global__ void scan(const float* x, const float* delta, const float* u, const float* v, const float* rate, float* y,
                     int len, int channels, int state) {
    int d = blockIdx.x * PART + threadIdx.y, lane = threadIdx.x;
    bool valid = d < channels;
    float h[4] = {}, r[4] = {};
    for (int j = 0; j < 4; ++j)
        if (valid && lane + j * LANES < state) r[j] = rate[(size_t)d * state + lane + j * LANES];
    for (int t = 0; t < len; ++t) {
        size_t at = (size_t)blockIdx.y * len + t;
        float step = valid ? delta[at * channels + d] : 0.0f, value = valid ? x[at * channels + d] : 0.0f, sum = 0.0f;
        for (int j = 0; j < 4; ++j) {
            int s = lane + j * LANES;
            if (s >= state) break;
            h[j] = expf(-step * r[j]) * h[j] + step * u[at * state + s] * value;
            sum += h[j] * v[at * state + s];
        }
        for (int k = LANES / 2; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
        if (valid && lane == 0) y[at * channels + d] = sum;
    }
}

__global__ void add_skip(const float* x, const float* skip, float* y, size_t count, int channels) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] += skip[i % channels] * x[i];
}
