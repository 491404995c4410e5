//@ problem level2/40
//@ scratch f64 h[batch, m + 1, n + 1]
//@ for (d = 0; d <= m + n; ++d) diagonal<<<(batch, ceildiv(m + 1, 64)), 64>>>(s, h, gap, temp, m, n, d)
//@ best<<<ceildiv(batch, 64), 64>>>(h, score, batch, m, n)
// All cells with i + j = d: they need earlier diagonals only.
__global__ void diagonal(const float* s, double* h, float gap, float temp, int m, int n, int d) {
    int i = blockIdx.y * blockDim.x + threadIdx.x, j = d - i;
    if (i > m || j < 0 || j > n) return;
    long long w = n + 1, at = (long long)blockIdx.x * (m + 1) * w + i * w + j;
    if (i == 0 || j == 0) {
        h[at] = 0;
        return;
    }
    double match = h[at - w - 1] + s[((long long)blockIdx.x * m + i - 1) * n + j - 1];
    double up = h[at - w] - gap, left = h[at - 1] - gap;
    double top = fmax(fmax(0.0, match), fmax(up, left));
    h[at] = top + temp * log(exp(-top / temp) + exp((match - top) / temp) + exp((up - top) / temp) + exp((left - top) / temp));
}

__global__ void best(const double* h, double* score, int batch, int m, int n) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    long long size = (long long)(m + 1) * (n + 1);
    double top = 0;
    for (long long k = 0; k < size; ++k) top = fmax(top, h[b * size + k]);
    score[b] = top;
}
