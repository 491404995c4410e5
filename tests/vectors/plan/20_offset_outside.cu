//@ kernel<<<1, 32>>>(offset(c, m*n + 1))
