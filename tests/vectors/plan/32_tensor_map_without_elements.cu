//@ tensormap ta = tile(a, box(64, 64), swizzle(128))
//@ if (k % 8 == 0) kernel<<<m, 128>>>(ta, c)
