//@ tensormap whole = tile(view(a, [m*k/64, 64]), box(32, 64), swizzle(128))
//@ let part = view(offset(a, 8*k), [4, 2, k])
//@ tensormap some = tile(part, box(1, 2, 8))
//@ kernel<<<1, 32>>>(whole, some, part, k > 512 ? some : whole, c)
