//@ problem level2/30
//@ const THREADS = 256, DEPTH = 16, LANES = 16, PART = 8, SPAN = 64
//@ let times = batch*len, tiles = ceildiv(times, 128)
//@ scratch f32 delta[batch, len, channels], u[batch, len, state], v[batch, len, state], rate[channels, state]
//@ linear<8, 8><<<(tiles, ceildiv(channels, 64)), 128>>>(x, w_delta, delta, times, channels, channels)
//@ linear<4, 2><<<(ceildiv(times, 64), ceildiv(state, 16)), 128>>>(x, w_u, u, times, channels, state)
//@ linear<4, 2><<<(ceildiv(times, 64), ceildiv(state, 16)), 128>>>(x, w_v, v, times, channels, state)
//@ softplus<<<ceildiv(times*channels, THREADS), THREADS>>>(delta, b_delta, times*channels, channels)
//@ exponential<<<ceildiv(channels*state, THREADS), THREADS>>>(a_log, rate, channels*state)
//@ if (state <= LANES) scan<1><<<(ceildiv(channels, PART), batch), (LANES, PART)>>>(x, delta, u, v, rate, y, len, channels, state)
//@ else scan<4><<<(ceildiv(channels, PART), batch), (LANES, PART)>>>(x, delta, u, v, rate, y, len, channels, state)
//@ add_skip<<<ceildiv(times*channels, THREADS), THREADS>>>(x, skip, y, times*channels, channels)

// y = x w^T in tiles of 16 R x 8 C, 128 threads for each; a thread makes R x C.
template <int R, int C>
__global__ void linear(const float* x, const float* w, float* y, int rows, int in, int out) {
    __shared__ __align__(16) float a[DEPTH][16 * R + 4], b[DEPTH][8 * C + 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * 16 * R, column = blockIdx.y * 8 * C;
    float sum[R][C] = {};
    for (int first = 0; first < in; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = first + i;
            for (int r = ty; r < ty + 16 * R; r += 16) a[i][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
            for (int c = ty; c < ty + 8 * C; c += 16) b[i][c] = column + c < out && k < in ? w[(size_t)(column + c) * in + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < R; ++r)
                for (int c = 0; c < C; ++c) sum[r][c] += a[i][ty * R + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            int i = row + ty * R + r, o = column + tx + 8 * c;
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

// LANES threads share the states of one channel, J each; a block follows PART neighbouring channels, SPAN steps at a time from
// shared memory.
template <int J>
__global__ void scan(const float* x, const float* delta, const float* u, const float* v, const float* rate, float* y,
                     int len, int channels, int state) {
    __shared__ float steps[SPAN][PART], values[SPAN][PART], results[SPAN][PART], in[SPAN][J * LANES], out[SPAN][J * LANES];
    int lane = threadIdx.x, own = threadIdx.y, thread = own * LANES + lane, first = blockIdx.x * PART, d = first + own;
    float h[J] = {}, r[J] = {};
    for (int j = 0; j < J; ++j)
        if (d < channels && lane + j * LANES < state) r[j] = rate[(size_t)d * state + lane + j * LANES];
    for (int start = 0; start < len; start += SPAN) {
        size_t at = (size_t)blockIdx.y * len + start;
        for (int i = thread; i < SPAN * PART; i += LANES * PART) {
            int t = i / PART, c = first + i % PART;
            bool inside = start + t < len && c < channels;
            steps[t][i % PART] = inside ? delta[(at + t) * channels + c] : 0.0f;
            values[t][i % PART] = inside ? x[(at + t) * channels + c] : 0.0f;
        }
        for (int i = thread; i < SPAN * J * LANES; i += LANES * PART) {
            int t = i / (J * LANES), s = i % (J * LANES);
            bool inside = start + t < len && s < state;
            in[t][s] = inside ? u[(at + t) * state + s] : 0.0f;
            out[t][s] = inside ? v[(at + t) * state + s] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int t = 0; t < SPAN; ++t) {
            float step = steps[t][own], value = values[t][own], sum = 0.0f;
            for (int j = 0; j < J; ++j) {
                h[j] = expf(-step * r[j]) * h[j] + step * in[t][lane + j * LANES] * value;
                sum += h[j] * out[t][lane + j * LANES];
            }
            for (int k = LANES / 2; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
            if (lane == 0) results[t][own] = sum;
        }
        __syncthreads();
        for (int i = thread; i < SPAN * PART; i += LANES * PART) {
            int t = i / PART, c = first + i % PART;
            if (start + t < len && c < channels) y[(at + t) * channels + c] = results[t][i % PART];
        }
    }
}

__global__ void add_skip(const float* x, const float* skip, float* y, size_t count, int channels) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) y[i] += skip[i % channels] * x[i];
}
