//@ copy<<<ceildiv(4*quads, 256), 256>>>(x, y, quads)
__global__ void copy(const float* x, double* y, int quads) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < 4ll * quads) y[i] = x[i];
}
