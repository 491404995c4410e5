//@ tensormap ta = tile(a, box(64, 8))
//@ kernel<<<1, 128>>>(ta, c)
