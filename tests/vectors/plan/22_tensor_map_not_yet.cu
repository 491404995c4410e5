//@ tensormap ta = tile(a, box(64, 32), swizzle(128))
//@ kernel<<<1, 384, 1024, cluster(2), pdl>>>(ta, c)
