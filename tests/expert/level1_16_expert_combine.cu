// Weighted rows of experts added up for each token; lists in place of atomics on the data.
// Bytes for each feature of a row: the seed reads hidden, writes and reads scaled copies, zeroes the result and adds to it in L2:
// 12, plus 8 to 12 for the result. Here one small launch chains the rows of each token (an exchange for each row), then a warp follows
// the chain of its token with up to 512 features in registers: hidden is read once, the result is written once. Expected: 3 to 4 times
// the seed.
//@ problem level1/16
//@ const THREADS = 256, WARPS = THREADS / 32, EACH = 4
//@ let packs = width % 4 == 0 ? width / 4 : width
//@ scratch i32 head[tokens], next[rows]
//@ zero(head)
//@ chain<<<ceildiv(rows, THREADS), THREADS>>>(owner, head, next, rows)
//@ if (width % 4 == 0) combine<float4><<<ceildiv(tokens*ceildiv(packs, 32*EACH), WARPS), THREADS>>>(hidden, gate, head, next, combined, tokens, packs)
//@ else combine<float><<<ceildiv(tokens*ceildiv(packs, 32*EACH), WARPS), THREADS>>>(hidden, gate, head, next, combined, tokens, packs)

// head[t] is a row of token t and next[r] another one of the same token, both plus one; 0 ends the chain.
__global__ void chain(const int* owner, int* head, int* next, int rows) {
  const int r = blockIdx.x*THREADS + threadIdx.x;
  if (r < rows) next[r] = atomicExch(&head[owner[r]], r + 1);
}

// A warp for 32*EACH packs of a token's features.
template <typename V>
__global__ void __launch_bounds__(THREADS) combine(const V* hidden, const float* gate, const int* head, const int* next, V* combined,
                                                   int tokens, int packs) {
  constexpr int WIDTH = sizeof(V) / sizeof(float);
  union Pack {
    V vector;
    float each[WIDTH];
  };
  const int pieces = (packs + 32*EACH - 1) / (32*EACH);
  const long long unit = (long long)blockIdx.x*WARPS + threadIdx.x / 32;
  if (unit >= (long long)tokens*pieces) return;
  const int token = unit / pieces, first = unit % pieces*(32*EACH) + threadIdx.x % 32;
  Pack sum[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i)
    for (int e = 0; e < WIDTH; ++e) sum[i].each[e] = 0.0f;
  for (int r = head[token], after = 0; r > 0; r = after) {
    after = next[r - 1];  // on its way together with the row
    const V* from = hidden + (size_t)(r - 1)*packs;
    const float weight = gate[r - 1];
    Pack v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
      if (first + 32*i < packs) v[i].vector = from[first + 32*i];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
      if (first + 32*i < packs)
        for (int e = 0; e < WIDTH; ++e) sum[i].each[e] += weight*v[i].each[e];
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i)
    if (first + 32*i < packs) combined[(size_t)token*packs + first + 32*i] = sum[i].vector;
}
