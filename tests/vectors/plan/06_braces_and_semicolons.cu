//@ let a1 = 3; let b1 = a1 << 2; if (b1 == 12) { zero(c); } else { kernel<<<1, 1>>>(); }
//@ for (int i = 2; i >= 0; i--) { kernel<<<i, dim3(8, 4, 2), i*1024>>>(offset(a, i*k), i) }
//@ for (j = 0; j < 10; j += 4) kernel<<<dim3(1, j), 32>>>(j)
