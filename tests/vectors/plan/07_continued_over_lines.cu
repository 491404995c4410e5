//@ kernel<<<
//@     (ceildiv(n, 16),   /* columns */
//@      ceildiv(m, 16)),  // rows
//@     256>>>(a,
//@            b, c)
__global__ void kernel(const float* a, const float* b, float* c);
//@ kernel<<<1, 1>>>(a, b, c)
