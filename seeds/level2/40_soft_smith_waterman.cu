//@ problem level2/40
//@ const THREADS = 128, MANY = 1024
//@ scratch f32 h[batch, m + n + 1, m + 1]
//@ zero(h)
//@ for (d = 2; d <= m + n; ++d) {
//@   diagonal<<<(batch, ceildiv(min(d - 1, m) - max(1, d - n) + 1, THREADS)), THREADS>>>(s, h, gap, temp, m, n, d)
//@ }
//@ best<<<batch, MANY>>>(h, score, m, n)
// h is kept by anti-diagonals, h[d][i] = H[i, d - i], so that neighbouring threads touch neighbouring cells.
__global__ void diagonal(const float* s, float* h, float gap, float temp, int m, int n, int d) {
    int first = max(1, d - n), last = min(d - 1, m);
    int i = first + blockIdx.y * THREADS + threadIdx.x, j = d - i;
    if (i > last) return;
    size_t w = m + 1;
    float* at = h + ((size_t)blockIdx.x * (m + n + 1) + d) * w + i;
    float match = *(at - 2 * w - 1) + s[((size_t)blockIdx.x * m + i - 1) * n + j - 1];
    float up = *(at - w - 1) - gap, left = *(at - w) - gap;
    float top = fmaxf(fmaxf(0.0f, match), fmaxf(up, left));
    float sum = expf(-top / temp) + expf((match - top) / temp) + expf((up - top) / temp) + expf((left - top) / temp);
    *at = top + temp * logf(sum);
}

// Cells outside the matrix stay 0, the value of the border, and so change no maximum.
__global__ void best(const float* h, float* score, int m, int n) {
    __shared__ float part[MANY];
    size_t size = (size_t)(m + n + 1) * (m + 1);
    float top = 0.0f;
    for (size_t k = threadIdx.x; k < size; k += MANY) top = fmaxf(top, h[blockIdx.x * size + k]);
    part[threadIdx.x] = top;
    __syncthreads();
    for (int half = MANY / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) score[blockIdx.x] = part[0];
}
