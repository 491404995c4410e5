//@ prepare { pack<<<1, 32>>>(b) }
//@ kernel<<<1, 128>>>(a, c)
