"""Golden vectors of ptx/gemm: sums of exact fractions."""

from fractions import Fraction

import golden


def case(seed, m, n, k, mean=0.0, scale=1.0):
    rng = golden.generator(seed)
    a = [golden.bf16(scale * rng.gauss(mean, 1)) for _ in range(m * k)]
    b = [golden.bf16(rng.gauss(0, k ** -0.5)) for _ in range(n * k)]
    c = [float(sum(Fraction(a[i * k + l]) * Fraction(b[j * k + l]) for l in range(k)))
         for i in range(m) for j in range(n)]
    return {"dims": {"m": m, "n": n, "k": k}, "scalars": {}, "inputs": {"a": a, "b": b}, "expected": {"c": c}}


golden.write("ptx/gemm", [case(1, 3, 8, 16), case(2, 1, 8, 8), case(3, 5, 16, 72, mean=1.0), case(4, 2, 24, 8, scale=1e4)])
