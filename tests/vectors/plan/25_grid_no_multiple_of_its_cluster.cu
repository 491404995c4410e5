//@ kernel<<<ceildiv(m, 64), 128, 0, cluster(4)>>>(a, c)
