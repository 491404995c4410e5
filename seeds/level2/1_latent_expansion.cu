//@ problem level2/1
//@ const ROWS = 128, COLS = 64, DEPTH = 16
//@ let tokens = batch*len, tiles = ceildiv(tokens, ROWS)
//@ scratch f32 latent[tokens, inner]
//@ multiply<<<(tiles, ceildiv(inner, COLS)), 128>>>(x, w_down, latent, tokens, channels, inner, inner)
//@ multiply<<<(tiles, ceildiv(wide, COLS)), 128>>>(latent, w_key, kv, tokens, inner, wide, 2*wide)
//@ multiply<<<(tiles, ceildiv(wide, COLS)), 128>>>(latent, w_value, offset(kv, wide), tokens, inner, wide, 2*wide)

// y = x w in tiles of ROWS x COLS, 128 threads for each; a thread makes 8 x 8. Rows of y are `stride` apart.
__global__ void multiply(const float* x, const float* w, float* y, int rows, int in, int out, int stride) {
    __shared__ __align__(16) float a[DEPTH][ROWS + 4], b[DEPTH][COLS];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.x * ROWS, column = blockIdx.y * COLS;
    float sum[8][8] = {};
    for (int first = 0; first < in; first += DEPTH) {
        for (int half = 0; half < DEPTH; half += 8) {
            int i = half + tx, k = first + i;
            for (int r = ty; r < ty + ROWS; r += 16) a[i][r] = row + r < rows && k < in ? x[(size_t)(row + r) * in + k] : 0.0f;
        }
        for (int s = threadIdx.x; s < DEPTH * COLS; s += 128) {
            int k = first + s / COLS, c = column + s % COLS;
            b[s / COLS][s % COLS] = k < in && c < out ? w[(size_t)k * out + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 8 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 8; ++c) {
            int i = row + ty * 8 + r, o = column + tx + 8 * c;
            if (i < rows && o < out) y[(size_t)i * stride + o] = sum[r][c];
        }
}
