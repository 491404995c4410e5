"""Golden vectors of level2/46: exact fractions for the distances, their sorted list for the median, then 50-digit decimals."""

from fractions import Fraction

import golden


def decimal_of(value):
    return golden.exact(value.numerator) / golden.exact(value.denominator)


def case(seed, n, dim, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    x, center = golden.normals(rng, n * dim, mean, std), golden.normals(rng, dim, 0, 0.5)
    width = [golden.f32(rng.uniform(0.5, 1.5)) for _ in range(dim)]
    rows = [[Fraction(v) for v in x[i * dim:(i + 1) * dim]] for i in range(n)]
    far = {(i, j): sum((a - b) ** 2 for a, b in zip(rows[i], rows[j])) for i in range(n) for j in range(n)}
    ordered = sorted(far[i, j] for i in range(n) for j in range(i + 1, n))
    h = decimal_of(ordered[(len(ordered) - 1) // 2]) / golden.exact(n + 1).ln()
    phi = []
    for i in range(n):
        k = [(-decimal_of(far[i, j]) / h).exp() for j in range(n)]
        for c in range(dim):
            pull = sum(w * (golden.exact(center[c]) - golden.exact(x[j * dim + c])) for j, w in enumerate(k)) / golden.exact(width[c]) ** 2
            push = sum(w * (golden.exact(x[i * dim + c]) - golden.exact(x[j * dim + c])) for j, w in enumerate(k)) * 2 / h
            phi.append(float((pull + push) / n))
    return {"dims": {"n": n, "dim": dim}, "scalars": {}, "inputs": {"x": x, "center": center, "width": width}, "expected": {"phi": phi}}


golden.write("level2/46", [case(1, 6, 3), case(2, 2, 1), case(3, 3, 5, 2.0, 0.5), case(4, 20, 2)])
