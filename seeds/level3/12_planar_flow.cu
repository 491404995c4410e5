//@ problem level3/12
//@ const THREADS = 256, WARPS = THREADS / 32, EACH = 8
//@ scratch f32 shift[flows, dim], slope[flows], t[batch]
//@ constrain<<<flows, 32>>>(w, u, shift, slope, dim)
//@ copy(z_out, z)
//@ zero(log_det)
//@ for (f = 0; f < flows; ++f) {
//@   project<<<ceildiv(batch, WARPS*EACH), THREADS>>>(z_out, offset(w, f*dim), offset(bias, f), t, batch, dim)
//@   advance<<<ceildiv(batch, WARPS*EACH), THREADS>>>(z_out, offset(shift, f*dim), t, batch, dim)
//@   add_log<<<ceildiv(batch, THREADS), THREADS>>>(t, offset(slope, f), log_det, batch)
//@ }
__device__ float warp_sum(float v) {
    for (int lane = 16; lane > 0; lane /= 2) v += __shfl_xor_sync(0xffffffffu, v, lane);
    return v;
}

// The shift of a map, made invertible, and its component along w.
__global__ void constrain(const float* w, const float* u, float* shift, float* slope, int dim) {
    const float* wf = w + (size_t)blockIdx.x * dim;
    const float* uf = u + (size_t)blockIdx.x * dim;
    float ww = 0.0f, wu = 0.0f;
    for (int i = threadIdx.x; i < dim; i += 32) {
        ww += wf[i] * wf[i];
        wu += wf[i] * uf[i];
    }
    ww = warp_sum(ww);
    wu = warp_sum(wu);
    float softplus = fmaxf(wu, 0.0f) + log1pf(expf(-fabsf(wu)));
    float along = (softplus - 1.0f - wu) / ww;
    for (int i = threadIdx.x; i < dim; i += 32) shift[(size_t)blockIdx.x * dim + i] = uf[i] + along * wf[i];
    if (threadIdx.x == 0) slope[blockIdx.x] = softplus - 1.0f;
}

// t = tanh(dot(w, z) + b), a warp for each EACH samples.
__global__ void project(const float* z, const float* w, const float* b, float* t, int batch, int dim) {
    int first = (blockIdx.x * WARPS + threadIdx.x / 32) * EACH, lane = threadIdx.x % 32;
    float sum[EACH] = {};
    for (int i = lane; i < dim; i += 32)
        for (int s = 0; s < EACH; ++s)
            if (first + s < batch) sum[s] += z[(size_t)(first + s) * dim + i] * w[i];
    float own = 0.0f;
    for (int s = 0; s < EACH; ++s) {
        float dot = warp_sum(sum[s]);
        if (lane == s) own = dot;
    }
    if (lane < EACH && first + lane < batch) t[first + lane] = tanhf(own + b[0]);
}

// A warp for each EACH samples, too; all are on their way before the first is written.
__global__ void advance(float* z, const float* shift, const float* t, int batch, int dim) {
    int first = (blockIdx.x * WARPS + threadIdx.x / 32) * EACH, lane = threadIdx.x % 32;
    for (int i = lane; i < dim; i += 32) {
        float v[EACH];
        for (int s = 0; s < EACH; ++s) v[s] = first + s < batch ? z[(size_t)(first + s) * dim + i] + shift[i] * t[first + s] : 0.0f;
        for (int s = 0; s < EACH; ++s)
            if (first + s < batch) z[(size_t)(first + s) * dim + i] = v[s];
    }
}

__global__ void add_log(const float* t, const float* slope, float* log_det, int batch) {
    int s = blockIdx.x * THREADS + threadIdx.x;
    if (s < batch) log_det[s] += logf(fabsf(1.0f + (1.0f - t[s] * t[s]) * slope[0]) + 1e-8f);
}
