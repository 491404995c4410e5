//@ tally<<<ceildiv(bins, 32), 32>>>(key, count, seen, n, bins)
__global__ void tally(const int* key, int* count, bool* seen, int n, int bins) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= bins) return;
  int c = 0;
  for (int i = 0; i < n; ++i) c += key[i] == b;
  count[b] = c;
  seen[b] = c > 0;
}
