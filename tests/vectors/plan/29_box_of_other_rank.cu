//@ tensormap ta = tile(a, box(64, 64, 64))
//@ kernel<<<1, 128>>>(ta, c)
