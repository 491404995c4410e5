//@ problem level2/16
//@ scratch f64 moved[chains, dim], p[chains, dim]
//@ trajectory<<<ceildiv(chains*dim, 128), 128>>>(q, momentum, center, width, moved, p, step_size, nu, chains*dim, dim, steps)
//@ decide<<<ceildiv(chains, 64), 64>>>(q, momentum, moved, p, u, center, width, q_next, accepted, margin, alternative, size, nu, chains, dim)
#include <cmath>

__device__ double slope(double q, double center, double width, double nu) {
    double z = (q - center) / width;
    return (nu + 1) * z / (width * (nu + z * z));
}

// Components move independently.
__global__ void trajectory(const float* q, const float* momentum, const float* center, const float* width, double* moved,
                           double* p, float step_size, float nu, long long count, int dim, int steps) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    int d = (int)(at % dim);
    double place = q[at], push = momentum[at];
    for (int s = 0; s < steps; ++s) {
        push -= 0.5 * step_size * slope(place, center[d], width[d], nu);
        place += step_size * push;
        push -= 0.5 * step_size * slope(place, center[d], width[d], nu);
    }
    moved[at] = place;
    p[at] = push;
}

template <typename T>
__device__ double energy(const T* q, const T* p, const float* center, const float* width, double nu, int dim) {
    double potential = 0, kinetic = 0;
    for (int d = 0; d < dim; ++d) {
        double z = ((double)q[d] - center[d]) / width[d];
        potential += (nu + 1) / 2 * log(1 + z * z / nu);
        kinetic += 0.5 * (double)p[d] * p[d];
    }
    return potential + kinetic;
}

__global__ void decide(const float* q, const float* momentum, const double* moved, const double* p, const float* u,
                       const float* center, const float* width, double* q_next, bool* accepted, double* margin,
                       double* alternative, double* size, float nu, int chains, int dim) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chains) return;
    long long first = (long long)c * dim;
    double before = energy(q + first, momentum + first, center, width, nu, dim);
    double after = energy(moved + first, p + first, center, width, nu, dim);
    double threshold = log(fmax((double)u[c], 1e-10));
    bool accept = threshold < before - after;
    double square = 0;
    for (int d = 0; d < dim; ++d) square += pow(q[first + d], 2) + pow(moved[first + d], 2) + pow(width[d], 2);
    for (int d = 0; d < dim; ++d) {
        size[first + d] = sqrt(square / dim);
        q_next[first + d] = accept ? moved[first + d] : q[first + d];
        alternative[first + d] = accept ? q[first + d] : moved[first + d];
    }
    accepted[c] = accept;
    margin[c] = fabs(before - after - threshold) / (1 + before + after);
}
