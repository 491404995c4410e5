//@ problem level1/4
//@ const THREADS = 256
//@ sides<<<ceildiv(pairs, THREADS), THREADS>>>(center, extent, triangle, overlap, pairs)
//@ edges<<<ceildiv(pairs, THREADS), THREADS>>>(center, extent, triangle, overlap, pairs)
#include <cmath>

// Whether the interval of three numbers reaches [-radius, radius].
__device__ bool reaches(float a, float b, float c, float radius) {
    return fminf(a, fminf(b, c)) <= radius && fmaxf(a, fmaxf(b, c)) >= -radius;
}

// The axes of the box.
__global__ void sides(const float2* center, const float2* extent, const float2* triangle, bool* overlap, int pairs) {
    int p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= pairs) return;
    float2 o = center[p], e = extent[p], a = triangle[3 * p], b = triangle[3 * p + 1], c = triangle[3 * p + 2];
    overlap[p] = reaches(a.x - o.x, b.x - o.x, c.x - o.x, e.x) && reaches(a.y - o.y, b.y - o.y, c.y - o.y, e.y);
}

// The normals of the triangle's edges, with the box's center as origin.
__global__ void edges(const float2* center, const float2* extent, const float2* triangle, bool* overlap, int pairs) {
    int p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= pairs) return;
    float2 o = center[p], e = extent[p], v[3];
    for (int i = 0; i < 3; ++i) {
        v[i] = triangle[3 * p + i];
        v[i].x -= o.x, v[i].y -= o.y;
    }
    bool reach = overlap[p];
    for (int i = 0; i < 3; ++i) {
        float nx = v[i].y - v[(i + 1) % 3].y, ny = v[(i + 1) % 3].x - v[i].x;
        float radius = fabsf(nx) * e.x + fabsf(ny) * e.y;
        reach = reach && reaches(nx * v[0].x + ny * v[0].y, nx * v[1].x + ny * v[1].y, nx * v[2].x + ny * v[2].y, radius);
    }
    overlap[p] = reach;
}
