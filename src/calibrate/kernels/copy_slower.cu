// Moves `extra` rows more than the seed.
//@ scratch f32 tail[extra, 4]
//@ copy<<<ceildiv(quads + extra, 256), 256>>>(x, y, tail, quads, extra)
__global__ void copy(const float4* x, float4* y, float4* tail, int quads, int extra) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < quads) y[i] = x[i];
  else if (i < quads + extra) tail[i - quads] = x[i];
}
