//@ scratch f32 part[m, n]
//@ tensormap t = tile(view(part, [m*n]), box(4))
//@ k<<<rank == 0 ? m : 0, 64>>>(peers(a), peers(part), t, rank, ranks, alpha)
//@ let p = peers(c)
//@ for (i = 0; i < ranks; ++i) j<<<rank + 1, 64, pdl>>>(p, peers(state), offset(part, n*i), ids)
//@ copy(c, part); zero(part)
//@ if (ranks > 2) k<<<1, 64>>>(peers(a), p, t, rank, ranks, 0.5); else zero(c)
