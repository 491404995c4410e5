//@ kernel<<<1, 32>>>(a, bb, c)
