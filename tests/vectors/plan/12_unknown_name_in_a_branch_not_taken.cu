//@ kernel<<<1, 32>>>(c)
//@ if (m > 1000000) kernel<<<row, 32>>>(c)
