//@ problem level3/3
//@ scan<<<ceildiv(batch*channels*height*width, 128), 128>>>(x, w, bias, y, size, batch*channels*height*width, channels, height, width)
#include <cmath>

// The pixel at place n of way k.
__device__ double pixel(const float* image, int k, int n, int height, int width) {
    if (n < 0 || n >= height * width) return 0;
    int i = k < 2 ? n / width : n % height, j = k < 2 ? n % width : n / height;
    if (k == 1) j = width - 1 - j;
    if (k == 3) i = height - 1 - i;
    return image[i * width + j];
}

__global__ void scan(const float* x, const float* w, const float* bias, double* y, double* size, long long count, int channels,
                     int height, int width) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    int j = (int)(at % width), i = (int)(at / width % height), area = height * width, c = (int)(at / area % channels);
    const float* image = x + at / area * area;
    int place[4] = {i * width + j, i * width + (width - 1 - j), j * height + i, j * height + (height - 1 - i)};
    double sum = x[at], terms = fabs((double)x[at]);
    for (int k = 0; k < 4; ++k) {
        sum += bias[c];
        terms += fabs((double)bias[c]);
        for (int tap = 0; tap < 3; ++tap) {
            double term = w[c * 3 + tap] * pixel(image, k, place[k] + tap - 1, height, width);
            sum += term;
            terms += fabs(term);
        }
    }
    y[at] = sum;
    size[at] = terms;
}
