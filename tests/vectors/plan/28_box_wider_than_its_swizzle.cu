//@ tensormap ta = tile(a, box(64, 128), swizzle(128))
//@ kernel<<<1, 128>>>(ta, c)
