//@ let big = m*n*k
//@ kernel<<<1, 32>>>(c, big)
