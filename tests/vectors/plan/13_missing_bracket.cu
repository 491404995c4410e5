//@ kernel<<<(m, n, 32>>>(c)
