//@ problem level2/1
//@ const THREADS = 256, ROWS = 128, COLS = 64, DEPTH = 16
//@ let tokens = batch*len, tiles = ceildiv(tokens, ROWS)
//@ scratch f32 latent[tokens, inner]
//@ multiply<<<(tiles, ceildiv(inner, COLS)), THREADS>>>(x, w_down, latent, tokens, channels, inner, inner)
//@ multiply<<<(tiles, ceildiv(wide, COLS)), THREADS>>>(latent, w_key, kv, tokens, inner, wide, 2*wide)
//@ multiply<<<(tiles, ceildiv(wide, COLS)), THREADS>>>(latent, w_value, offset(kv, wide), tokens, inner, wide, 2*wide)

// y = x w in tiles of ROWS x COLS; a thread makes 8 x 4. Rows of y are `stride` apart.
__global__ void multiply(const float* x, const float* w, float* y, int rows, int in, int out, int stride) {
    __shared__ float a[DEPTH][ROWS + 1], b[DEPTH][COLS];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x * ROWS, column = blockIdx.y * COLS;
    float sum[8][4] = {};
    for (int first = 0; first < in; first += DEPTH) {
        for (int r = ty; r < ROWS; r += 16)
            a[tx][r] = row + r < rows && first + tx < in ? x[(size_t)(row + r) * in + first + tx] : 0.0f;
        for (int s = threadIdx.x; s < DEPTH * COLS; s += THREADS) {
            int k = first + s / COLS, c = column + s % COLS;
            b[s / COLS][s % COLS] = k < in && c < out ? w[(size_t)k * out + c] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; ++i)
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[i][ty * 8 + r] * b[i][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 8; ++r)
        for (int c = 0; c < 4; ++c) {
            int i = row + ty * 8 + r, o = column + tx + 16 * c;
            if (i < rows && o < out) y[(size_t)i * stride + o] = sum[r][c];
        }
}
