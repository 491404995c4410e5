//@ problem level2/8
//@ route<<<ceildiv(tokens, 64), 64>>>(logits, state, ground, expert, weight, margin, alternative, alpha, hidden, experts, tokens)
#include <cmath>

// The three best of a token, best first; a later expert must be larger to pass an earlier one.
__global__ void route(const float* logits, const float* state, const float* ground, int* expert, double* weight,
                      double* margin, double* alternative, float alpha, int hidden, int experts, int tokens) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    double best[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    int at[3] = {-1, -1, -1};
    for (int e = 0; e < experts; ++e) {
        double sum = 0, magnitude = 0;
        for (int d = 0; d < hidden; ++d) {
            double product = (double)state[(long long)t * hidden + d] * ground[(long long)e * hidden + d];
            sum += product;
            magnitude += fabs(product);
        }
        double score = logits[(long long)t * experts + e] + alpha * sum;
        size = fmax(size, fabs(logits[(long long)t * experts + e]) + alpha * magnitude);
        int place = 3;
        while (place > 0 && score > best[place - 1]) --place;
        for (int j = 2; j > place; --j) {
            best[j] = best[j - 1];
            at[j] = at[j - 1];
        }
        if (place < 3) {
            best[place] = score;
            at[place] = e;
        }
    }
    double above = best[0] - best[1], below = best[1] - best[2], ratio = exp(-above);
    size = fmax(size, 1e-30);
    for (int j = 0; j < 2; ++j) expert[(long long)t * 2 + j] = at[j];
    weight[(long long)t * 2] = 1 / (1 + ratio);
    weight[(long long)t * 2 + 1] = ratio / (1 + ratio);
    margin[(long long)t * 2] = above / size;
    alternative[(long long)t * 2] = at[1];
    margin[(long long)t * 2 + 1] = fmin(above, below) / size;
    alternative[(long long)t * 2 + 1] = above <= below ? at[0] : at[2];
}
