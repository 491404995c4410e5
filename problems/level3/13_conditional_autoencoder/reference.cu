//@ problem level3/13
//@ let heads = latent*hidden
//@ scratch f64 seen[batch, data + extra], e[batch, hidden], mu[batch, latent], logvar[batch, latent]
//@ scratch f64 z[batch, latent + extra], d[batch, hidden], guess[batch, data], part[64]
//@ scratch f64 active[batch], strong[data]
//@ join<float><<<ceildiv(batch*(data + extra), 128), 128>>>(x, cond, seen, batch, data, extra)
//@ linear<<<ceildiv(batch*hidden, 128), 128>>>(seen, w_in, b_in, e, batch, data + extra, hidden)
//@ relu<<<ceildiv(batch*hidden, 128), 128>>>(e, batch*hidden)
//@ linear<<<ceildiv(batch*latent, 128), 128>>>(e, w_head, b_head, mu, batch, hidden, latent)
//@ linear<<<ceildiv(batch*latent, 128), 128>>>(e, offset(w_head, heads), offset(b_head, latent), logvar, batch, hidden, latent)
//@ draw<<<ceildiv(batch*(latent + extra), 128), 128>>>(mu, logvar, noise, cond, z, batch, latent, extra)
//@ linear<<<ceildiv(batch*hidden, 128), 128>>>(z, w_mid, b_mid, d, batch, latent + extra, hidden)
//@ relu<<<ceildiv(batch*hidden, 128), 128>>>(d, batch*hidden)
//@ linear<<<ceildiv(batch*data, 128), 128>>>(d, w_out, b_out, guess, batch, hidden, data)
//@ lengths<double><<<ceildiv(batch, 64), 64>>>(d, active, batch, hidden)
//@ lengths<float><<<ceildiv(data, 64), 64>>>(w_out, strong, data, hidden)
//@ terms<<<ceildiv(batch, 64), 64>>>(x, guess, active, strong, b_out, mu, logvar, recon, recon_size, kl, kl_size, batch,
//@                                      data, hidden, latent)
//@ sums<<<1, 64>>>(recon, kl, part, batch)
//@ average<<<1, 1>>>(part, loss, batch)
#include <cmath>

template <typename T>
__global__ void join(const T* a, const T* b, double* out, long long rows, int first, int second) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int width = first + second;
    if (i >= rows * width) return;
    long long r = i / width, c = i % width;
    out[i] = c < first ? a[r * first + c] : b[r * second + c - first];
}

__global__ void linear(const double* x, const float* w, const float* bias, double* y, long long rows, int in, int out) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * out) return;
    long long r = i / out, o = i % out;
    double sum = bias[o];
    for (int c = 0; c < in; ++c) sum += x[r * in + c] * w[o * in + c];
    y[i] = sum;
}

__global__ void relu(double* v, long long count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) v[i] = fmax(v[i], 0.0);
}

// (z, cond)
__global__ void draw(const double* mu, const double* logvar, const float* noise, const float* cond, double* out,
                     long long rows, int latent, int extra) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int width = latent + extra;
    if (i >= rows * width) return;
    long long r = i / width, c = i % width;
    if (c < latent) out[i] = mu[r * latent + c] + exp(logvar[r * latent + c] / 2) * noise[r * latent + c];
    else out[i] = cond[r * extra + c - latent];
}

template <typename T>
__global__ void lengths(const T* rows, double* out, int count, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    double squares = 0;
    for (int c = 0; c < width; ++c) squares += (double)rows[(long long)r * width + c] * rows[(long long)r * width + c];
    out[r] = sqrt(squares);
}

// The error of a miss, in any order of its sum, goes with the size of its terms, however small it comes out itself.
__global__ void terms(const float* x, const double* guess, const double* active, const double* strong, const float* b_out,
                      const double* mu, const double* logvar, double* recon, double* recon_size, double* kl, double* kl_size,
                      int batch, int data, int hidden, int latent) {
    long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    double squares = 0, square_size = 0, divergence = 0, size = 0;
    for (int c = 0; c < data; ++c) {
        double miss = guess[b * data + c] - x[b * data + c];
        double all = fabs((double)x[b * data + c]) + fabs((double)b_out[c]) + active[b] * strong[c] / sqrt((double)hidden);
        squares += miss * miss;
        square_size += (fabs(miss) + 1e-6 * all) * all;
    }
    for (int c = 0; c < latent; ++c) {
        double m = mu[b * latent + c], l = logvar[b * latent + c];
        divergence += (m * m + exp(l) - 1 - l) / 2;
        size += (m * m + exp(l) + 1 + fabs(l)) / 2;
    }
    recon[b] = squares;
    recon_size[b] = square_size;
    kl[b] = divergence;
    kl_size[b] = size;
}

__global__ void sums(const double* recon, const double* kl, double* part, int batch) {
    double sum = 0;
    for (int b = threadIdx.x; b < batch; b += 64) sum += recon[b] + kl[b];
    part[threadIdx.x] = sum;
}

__global__ void average(const double* part, double* loss, int batch) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += part[i];
    loss[0] = sum / batch;
}
