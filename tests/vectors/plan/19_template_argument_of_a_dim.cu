//@ kernel<m><<<1, 32>>>(c)
