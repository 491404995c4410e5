//@ problem level1/9
//@ const CHUNK = 128, THREADS = 128
//@ let chunks = ceildiv(length, CHUNK)
//@ scratch f32 decay[batch, chunks, channels], carry[batch, chunks, channels]
//@ scan_chunks<<<ceildiv(batch*chunks*channels, THREADS), THREADS>>>(a, b, h, decay, carry, batch, length, channels, chunks)
//@ scan_carries<<<ceildiv(batch*channels, THREADS), THREADS>>>(decay, carry, batch, channels, chunks)
//@ add_carries<<<ceildiv(batch*chunks*channels, THREADS), THREADS>>>(a, carry, h, batch, length, channels, chunks)
// Threads run over (batch, chunk, channel), the channel fastest: every access is coalesced.
__global__ void scan_chunks(const float* a, const float* b, float* h, float* decay, float* carry,
                            int batch, int length, int channels, int chunks) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (long long)batch * chunks * channels) return;
    int channel = (int)(i % channels), chunk = (int)(i / channels % chunks);
    long long row = i / channels / chunks * length;
    float state = 0.0f, product = 1.0f;
    for (int t = chunk * CHUNK; t < min(length, (chunk + 1) * CHUNK); ++t) {
        long long at = (row + t) * channels + channel;
        state = a[at] * state + b[at];
        product *= a[at];
        h[at] = state;
    }
    decay[i] = product;
    carry[i] = state;
}

// Replaces each chunk's own last state by the true state before the chunk.
__global__ void scan_carries(const float* decay, float* carry, int batch, int channels, int chunks) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= batch * channels) return;
    float state = 0.0f;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        long long at = ((long long)(i / channels) * chunks + chunk) * channels + i % channels;
        float last = carry[at];
        carry[at] = state;
        state = decay[at] * state + last;
    }
}

__global__ void add_carries(const float* a, const float* carry, float* h, int batch, int length, int channels, int chunks) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (long long)batch * chunks * channels) return;
    int channel = (int)(i % channels), chunk = (int)(i / channels % chunks);
    long long row = i / channels / chunks * length;
    float before = carry[i];
    for (int t = chunk * CHUNK; t < min(length, (chunk + 1) * CHUNK); ++t) {
        long long at = (row + t) * channels + channel;
        before *= a[at];
        h[at] += before;
    }
}
