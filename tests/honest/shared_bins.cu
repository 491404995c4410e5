// Counts in shared memory, then one atomic a bin and block.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/tally
//@ zero(count)
//@ k<<<clamp(ceildiv(n, 256), 1, 4), 64, bins*sizeof(i32)>>>(key, count, n, bins)
//@ mark<<<ceildiv(bins, 128), 128>>>(count, seen, bins)
__global__ void k(const int* key, int* count, int n, int bins) {
  extern __shared__ int own[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[key[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (own[b] != 0) atomicAdd(&count[b], own[b]);
}
__global__ void mark(const int* count, bool* seen, int bins) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < bins) seen[b] = count[b] != 0;
}
