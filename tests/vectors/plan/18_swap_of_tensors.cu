//@ swap(a, c)
//@ kernel<<<1, 32>>>(c)
