//@ problem demo/1
//@ const VEC = 4, THREADS = 256
//@ scale_silu<<<ceildiv(rows*cols, THREADS*VEC), THREADS>>>(x, bias, y, rows, cols)
__global__ void scale_silu(const float* x, const float* bias, float* y, int rows, int cols);
