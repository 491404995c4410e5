// h[t] = a[t] h[t-1] + b[t] along time, single pass where the sequences fill the device.
// Bytes: the seed reads a, b, a, h and writes h twice, 24 an element, and folds the chunks of a sequence one after another in one
// thread (2,048 of them at `narrow`). Here a block takes 32 channels; its warps scan neighbouring pieces of time from registers and
// exchange one pair of numbers each through shared memory: 12 bytes an element. Few long sequences are cut into parts whose pairs are
// made by a launch of its own (20 bytes an element). Blocks have 32, 16 or 8 warps, so that up to five for each multiprocessor run at
// once, without a second wave that leaves most of the device idle. Expected: 2 times the seed, 3 at `narrow`.
//@ problem level1/9
//@ const STEPS = 8
//@ let groups = ceildiv(channels, 32), blocks = batch*groups
//@ let wanted = 2*blocks >= sm_count ? 1 : ceildiv(4*sm_count, blocks)
//@ let span = align(ceildiv(length, wanted), 64), parts = ceildiv(length, span)
//@ scratch f32 decay[parts, batch, groups, 32], carry[parts, batch, groups, 32]
//@ if (parts > 1) scan<8, false><<<blocks*parts, 256>>>(a, b, h, decay, carry, length, channels, groups, blocks, span)
//@ if (parts == 1 && blocks <= sm_count) scan<32, true><<<blocks, 1024>>>(a, b, h, decay, carry, length, channels, groups, blocks, span)
//@ else if (parts == 1 && blocks <= 2*sm_count) scan<16, true><<<blocks, 512>>>(a, b, h, decay, carry, length, channels, groups, blocks, span)
//@ else scan<8, true><<<blocks*parts, 256>>>(a, b, h, decay, carry, length, channels, groups, blocks, span)

// The map of time steps p..q is h -> decay*h + carry. A block works on part blockIdx.x / blocks of the time of 32 channels.
// WRITE: h, from the state that earlier parts leave; else the map of the part.
template <int WARPS, bool WRITE>
__global__ void __launch_bounds__(32*WARPS, WARPS == 32 ? 0 : 40 / WARPS) scan(const float* a, const float* b, float* h, float* decay, float* carry, int length,
                                                 int channels, int groups, int blocks, int span) {
  __shared__ float2 maps[2][WARPS][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, block = blockIdx.x % blocks, part = blockIdx.x / blocks;
  const int channel = block % groups*32 + lane, end = min(length, (part + 1)*span);
  const size_t row = (size_t)(block / groups)*length;
  float state = 0.0f, product = 1.0f;
  if (WRITE) {
#pragma unroll 8
    for (int p = 0; p < part; ++p) {
      const size_t at = ((size_t)p*blocks + block)*32 + lane;
      state = decay[at]*state + carry[at];
    }
  }
  int turn = 0;  // two sets of maps in turns, so one barrier a round is enough
  for (int start = part*span; start < end; start += WARPS*STEPS, turn ^= 1) {
    const int first = start + warp*STEPS;
    float u[STEPS], v[STEPS], one = 1.0f, last = 0.0f;
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
      const bool inside = channel < channels && first + i < end;
      const size_t at = (row + first + i)*channels + channel;
      u[i] = inside ? a[at] : 1.0f;
      v[i] = inside ? b[at] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
      last = u[i]*last + v[i];
      one *= u[i];
    }
    maps[turn][warp][lane] = make_float2(one, last);
    __syncthreads();
    float mine = state;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
      if (w == warp) mine = state;
      const float2 map = maps[turn][w][lane];
      state = map.x*state + map.y;
      product *= map.x;
    }
    if (!WRITE) continue;
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
      mine = u[i]*mine + v[i];
      if (channel < channels && first + i < end) h[(row + first + i)*channels + channel] = mine;
    }
  }
  if (!WRITE && warp == 0) {
    const size_t at = (size_t)blockIdx.x*32 + lane;
    decay[at] = product;
    carry[at] = state;
  }
}
