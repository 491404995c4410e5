// Flags by a vote of the warp; a grid of nothing where there are no keys.
// expect stress: PASS_INCONCLUSIVE
//@ problem test/tally
//@ zero(count)
//@ zero(seen)
//@ k<<<ceildiv(n, 32), 32>>>(key, count, seen, n)
__global__ void k(const int* key, int* count, bool* seen, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  const bool there = i < n;
  const int b = there ? key[i] : -1;
  const unsigned same = __match_any_sync(0xffffffffu, b);
  if (there && __ffs(same) - 1 == (int)threadIdx.x) {
    atomicAdd(&count[b], __popc(same));
    seen[b] = true;
  }
}
