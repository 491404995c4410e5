//@ problem test/tally
//@ zero(count)
//@ tally<<<ceildiv(n, 128), 128>>>(key, count, n)
//@ mark<<<ceildiv(bins, 128), 128>>>(count, seen, bins)
__global__ void tally(const int* key, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&count[key[i]], 1);
}
__global__ void mark(const int* count, bool* seen, int bins) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < bins) seen[b] = count[b] > 0;
}
