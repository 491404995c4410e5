//@ const BM = 128, BN = 128, BK = 64, STAGES = 4
//@ tensormap ta = tile(a, box(BM, BK), swizzle(128))
//@ tensormap tb = tile(b, box(BN, BK), swizzle(128), l2(256), oob(nan))
//@ tensormap tc = tile(c, box(BM, 32), swizzle(128), stride(2, 1))
//@ let tiles = ceildiv(m, BM) * ceildiv(n, BN)
//@ gemm<<<min(sm_count, tiles) / 2 * 2, 384, STAGES*(BM+BN)*BK*sizeof(bf16) + 1024, cluster(2)>>>(ta, tb, tc, m, n, k)
