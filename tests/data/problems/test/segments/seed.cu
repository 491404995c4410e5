//@ problem test/segments
//@ segments<<<ceildiv(parts, 32), 32>>>(start, value, sum, most, parts)
__global__ void segments(const int* start, const float* value, float* sum, float* most, int parts) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= parts) return;
  float s = 0, m = start[p] < start[p + 1] ? value[start[p]] : 0;
  for (int i = start[p]; i < start[p + 1]; ++i) { s += value[i]; m = value[i] > m ? value[i] : m; }
  sum[p] = s;
  most[p] = m;
}
