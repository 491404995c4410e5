//@ problem level3/3
//@ scan<<<ceildiv(batch*channels*height*width, 128), 128>>>(x, w, bias, y, batch*channels*height*width, channels, height, width)
// The pixel at place n of way k.
__device__ double pixel(const float* image, int k, int n, int height, int width) {
    if (n < 0 || n >= height * width) return 0;
    int i = k < 2 ? n / width : n % height, j = k < 2 ? n % width : n / height;
    if (k == 1) j = width - 1 - j;
    if (k == 3) i = height - 1 - i;
    return image[i * width + j];
}

__global__ void scan(const float* x, const float* w, const float* bias, double* y, long long count, int channels, int height, int width) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    int j = (int)(at % width), i = (int)(at / width % height), size = height * width, c = (int)(at / size % channels);
    const float* image = x + at / size * size;
    int place[4] = {i * width + j, i * width + (width - 1 - j), j * height + i, j * height + (height - 1 - i)};
    double sum = x[at];
    for (int k = 0; k < 4; ++k) {
        sum += bias[c];
        for (int tap = 0; tap < 3; ++tap) sum += w[c * 3 + tap] * pixel(image, k, place[k] + tap - 1, height, width);
    }
    y[at] = sum;
}
