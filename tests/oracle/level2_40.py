"""Golden vectors of level2/40: the recurrence by memoised recursion in 50-digit decimals, powers taken as they stand."""

import functools

import golden


def pair_score(s, m, n, gap, temp):
    @functools.lru_cache(maxsize=None)
    def h(i, j):
        if i == 0 or j == 0:
            return golden.exact(0)
        terms = [golden.exact(0), h(i - 1, j - 1) + golden.exact(s[(i - 1) * n + j - 1]), h(i - 1, j) - gap,
                 h(i, j - 1) - gap]
        return temp * sum((term / temp).exp() for term in terms).ln()

    return float(max(h(i, j) for i in range(m + 1) for j in range(n + 1)))


def case(seed, batch, m, n, gap, temp, mean=-1.0):
    rng = golden.generator(seed)
    gap, temp = golden.f32(gap), golden.f32(temp)
    s = golden.normals(rng, batch * m * n, mean, 2.0)
    score = [pair_score(s[b * m * n:(b + 1) * m * n], m, n, golden.exact(gap), golden.exact(temp)) for b in range(batch)]
    return {"dims": {"batch": batch, "m": m, "n": n}, "scalars": {"gap": gap, "temp": temp}, "inputs": {"s": s},
            "expected": {"score": score}}


golden.write("level2/40", [case(1, 3, 9, 12, 1.0, 1.0), case(2, 1, 1, 1, 0.9, 1.2), case(3, 2, 1, 14, 1.1, 0.8),
                           case(4, 2, 7, 3, 0.85, 1.1, -6.0)])
