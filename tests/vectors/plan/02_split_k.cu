//@ const TM = 64, TN = 64, TK = 16                     // a comment
//@ let splits = clamp(2 * sm_count / (ceildiv(m, TM) * ceildiv(n, TN)), 1, 32)
//@ scratch f32 partial[splits, m, n]
//@ gemm<TM, TN, TK><<<(ceildiv(n, TN), ceildiv(m, TM), splits), 256>>>(a, b, splits > 1 ? partial : c, m, n, k, splits)
//@ if (splits > 1) add_up<<<(m*n + 255) / 256, 256>>>(partial, c, m*n, splits)
