//@ scratch u8 flags1[m], done[1]
//@ scratch c128 spectrum[m, n/2 + 1]
//@ zero(done)
//@ kernel<<<1, 32, 3*sizeof(bf16) + sizeof(c128)>>>(offset(spectrum, 2), offset(offset(flags1, 3), -1), 0.5f*2, 7 / 2, -7 / 2, 2e3, done, c)
