//@ kernel<<<32, 128, 0, cluster(4, 8)>>>(a, c)
