//@ for (i = 0; i < 300; ++i) for (j = 0; j < 300; ++j) kernel<<<1, 32>>>(c)
