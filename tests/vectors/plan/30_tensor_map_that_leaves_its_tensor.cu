//@ tensormap ta = tile(offset(a, 8), box(64, 64))
//@ kernel<<<1, 128>>>(ta, c)
