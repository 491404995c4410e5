//@ first<<<(4, 6), 128, cluster(2, 3)>>>(a, c)
//@ second<<<(4, 6), 128, 0, pdl, cluster(1, 1, 1)>>>(a, c)
//@ third<<<m, 64, 256, cooperative, pdl>>>(c)
