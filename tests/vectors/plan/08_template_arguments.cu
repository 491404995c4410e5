//@ const N = 4, HALF = N / 2
//@ ns::kernel<float, f16, HALF + 1, true, (N > 3), -1, unsigned int, Policy><<<1, N>>>(c)
