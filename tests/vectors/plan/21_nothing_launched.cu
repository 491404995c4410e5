//@ kernel<<<m / 2, 32>>>(c)
