//@ problem level2/41
//@ let heads = latent*hidden
//@ scratch f64 e[batch, hidden], mu[batch, latent], logvar[batch, latent], z[batch, latent], d[batch, hidden], l[batch, data], part[64]
//@ linear<float><<<ceildiv(batch*hidden, 128), 128>>>(x, w_in, b_in, e, batch, data, hidden)
//@ relu<<<ceildiv(batch*hidden, 128), 128>>>(e, batch*hidden)
//@ linear<double><<<ceildiv(batch*latent, 128), 128>>>(e, w_head, b_head, mu, batch, hidden, latent)
//@ linear<double><<<ceildiv(batch*latent, 128), 128>>>(e, offset(w_head, heads), offset(b_head, latent), logvar, batch, hidden, latent)
//@ draw<<<ceildiv(batch*latent, 128), 128>>>(mu, logvar, noise, z, batch*latent)
//@ linear<double><<<ceildiv(batch*hidden, 128), 128>>>(z, w_mid, b_mid, d, batch, latent, hidden)
//@ relu<<<ceildiv(batch*hidden, 128), 128>>>(d, batch*hidden)
//@ linear<double><<<ceildiv(batch*data, 128), 128>>>(d, w_out, b_out, l, batch, hidden, data)
//@ terms<<<ceildiv(batch, 64), 64>>>(x, l, mu, logvar, recon, kl, recon_size, kl_size, batch, data, latent)
//@ sums<<<1, 64>>>(recon, kl, part, batch)
//@ average<<<1, 1>>>(part, bound, batch)
#include <cmath>

template <typename T>
__global__ void linear(const T* x, const float* w, const float* bias, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += (double)x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void relu(double* v, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) v[i] = fmax(v[i], 0.0);
}

__global__ void draw(const double* mu, const double* logvar, const float* noise, double* z, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) z[i] = mu[i] + exp(logvar[i] / 2) * noise[i];
}

__global__ void terms(const float* x, const double* l, const double* mu, const double* logvar, double* recon, double* kl,
                      double* recon_size, double* kl_size, int batch, int data, int latent) {
    long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    double cross = 0, cross_size = 0, divergence = 0, size = 0;
    for (int c = 0; c < data; ++c) {
        double v = l[b * data + c], softplus = fmax(v, 0.0) + log1p(exp(-fabs(v)));
        cross += softplus - x[b * data + c] * v;
        cross_size += softplus + x[b * data + c] * fabs(v) + 0.1;
    }
    for (int c = 0; c < latent; ++c) {
        double m = mu[b * latent + c], v = logvar[b * latent + c];
        divergence += (m * m + exp(v) - 1 - v) / 2;
        size += (m * m + exp(v) + 1 + fabs(v)) / 2;
    }
    recon[b] = cross;
    recon_size[b] = cross_size;
    kl[b] = divergence;
    kl_size[b] = size;
}

__global__ void sums(const double* recon, const double* kl, double* part, int batch) {
    double sum = 0;
    for (int b = threadIdx.x; b < batch; b += 64) sum += recon[b] + kl[b];
    part[threadIdx.x] = sum;
}

__global__ void average(const double* part, double* bound, int batch) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += part[i];
    bound[0] = -sum / batch;
}
