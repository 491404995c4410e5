// Forward kinematics of planar chains in one launch; the seed makes three, with angles and steps in memory between them.
// Bytes for each joint: the seed 8 + 12 + 16 = 36, here 4 + 8 = 12. A thread follows a chain; angles come and places go through
// shared memory, so that all accesses are coalesced. Odd strides there keep its banks apart. Expected: 2.5 times the seed.
//@ problem level2/42
//@ const CHAINS = 128, COLUMNS = 16
//@ let row = min(joints, COLUMNS) + (1 - min(joints, COLUMNS) % 2)
//@ follow<<<ceildiv(chains, CHAINS), CHAINS, CHAINS*row*3*sizeof(f32)>>>(theta, link, place, chains, joints, row)
#include <cmath>

// Both by all threads of the block: `rows` x `columns` elements between memory (`width` apart) and shared memory (`row` apart). Where
// both are one run without gaps no place needs a division.
__device__ void bring(float* shared, const float* memory, int rows, int columns, int width, int row) {
  const bool run = columns == width && row == width;
#pragma unroll 4
  for (int e = threadIdx.x; e < rows*columns; e += CHAINS) {
    const int r = run ? 0 : columns == COLUMNS ? e / COLUMNS : e / columns, c = e - r*columns;
    shared[r*row + c] = memory[(size_t)r*width + c];
  }
}

__device__ void send(const float2* shared, float2* memory, int rows, int columns, int width, int row) {
  const bool run = columns == width && row == width;
#pragma unroll 4
  for (int e = threadIdx.x; e < rows*columns; e += CHAINS) {
    const int r = run ? 0 : columns == COLUMNS ? e / COLUMNS : e / columns, c = e - r*columns;
    memory[(size_t)r*width + c] = shared[r*row + c];
  }
}

__global__ void __launch_bounds__(CHAINS) follow(const float* theta, const float* link, float2* place, int chains, int joints, int row) {
  extern __shared__ __align__(16) float raw[];
  float2* places = reinterpret_cast<float2*>(raw);
  float* angles = raw + 2*CHAINS*row;
  const int rows = min(CHAINS, chains - (int)blockIdx.x*CHAINS);
  const size_t start = (size_t)blockIdx.x*CHAINS*joints;
  float angle = 0.0f, x = 0.0f, y = 0.0f;
  for (int first = 0; first < joints; first += COLUMNS) {
    const int columns = min(COLUMNS, joints - first);
    bring(angles, theta + start + first, rows, columns, joints, row);
    __syncthreads();
    if (threadIdx.x < rows) {
      for (int c = 0; c < columns; ++c) {
        float sine, cosine;
        angle += angles[threadIdx.x*row + c];
        sincosf(angle, &sine, &cosine);
        x += link[first + c]*cosine;
        y += link[first + c]*sine;
        places[threadIdx.x*row + c] = make_float2(x, y);
      }
    }
    __syncthreads();
    send(places, place + start + first, rows, columns, joints, row);
  }
}
