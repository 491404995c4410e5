//@ problem level3/12
//@ flow<<<ceildiv(batch, 64), 64>>>(z, w, u, bias, z_out, log_det, log_size, batch, dim, flows)
__global__ void flow(const float* z, const float* w, const float* u, const float* bias, double* z_out, double* log_det, double* log_size,
                     int batch, int dim, int flows) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= batch) return;
    double* x = z_out + (long long)s * dim;
    for (int i = 0; i < dim; ++i) x[i] = z[(long long)s * dim + i];
    double logs = 0, size = 0;
    for (int f = 0; f < flows; ++f) {
        const float* wf = w + f * dim;
        const float* uf = u + f * dim;
        double ww = 0, wu = 0, wx = 0;
        for (int i = 0; i < dim; ++i) {
            ww += (double)wf[i] * wf[i];
            wu += (double)wf[i] * uf[i];
            wx += wf[i] * x[i];
        }
        double softplus = fmax(wu, 0.0) + log1p(exp(-fabs(wu)));
        double along = (softplus - 1 - wu) / ww;
        double t = tanh(wx + bias[f]);
        for (int i = 0; i < dim; ++i) x[i] += (uf[i] + along * wf[i]) * t;
        double term = log(fabs(1 + (1 - t * t) * (wu + along * ww)) + 1e-8);
        logs += term;
        size += fmax(1.0, fabs(term));
    }
    log_det[s] = logs;
    log_size[s] = size;
}
