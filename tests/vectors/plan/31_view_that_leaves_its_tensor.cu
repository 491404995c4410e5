//@ let v = view(a, [m, k + 1])
//@ kernel<<<1, 128>>>(v, c)
