// expect stress: PASS_INCONCLUSIVE
//@ problem test/affine
//@ k<float, 128><<<rows, 128, 128*sizeof(f32)>>>(x, shift, y, total, cols, alpha)
template <typename T, int N> __global__ void k(const T* x, const T* shift, T* y, T* total, int cols, T alpha) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* part = reinterpret_cast<T*>(raw);
  T s = 0;
  #pragma unroll 4
  for (int c = threadIdx.x; c < cols; c += N) { T v = alpha * x[blockIdx.x * cols + c] + shift[c]; y[blockIdx.x * cols + c] = v; s += v; }
  part[threadIdx.x] = s;
  __syncthreads();
  for (int d = N / 2; d > 0; d /= 2) { if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d]; __syncthreads(); }
  if (!threadIdx.x) total[blockIdx.x] = part[0];
}
