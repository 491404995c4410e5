"""Golden vectors of level3/10: inverse and determinant by Gauss-Jordan on exact fractions, densities as they stand."""

from fractions import Fraction

import golden


def decimal_of(value):
    return golden.exact(value.numerator) / golden.exact(value.denominator)


def inverse(matrix):
    """(inverse, determinant)."""
    n = len(matrix)
    rows = [row + [Fraction(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    determinant = Fraction(1)
    for c in range(n):
        pivot = rows[c][c]                              # positive definite: never 0
        determinant *= pivot
        rows[c] = [v / pivot for v in rows[c]]
        for r in range(n):
            if r != c:
                factor = rows[r][c]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[c])]
    return [row[n:] for row in rows], determinant


def covariance(rng, dim):
    """Symmetric and positive definite, in float32."""
    root = [[rng.gauss(0, 0.6) for _ in range(dim)] for _ in range(dim)]
    return [[golden.f32(sum(a * b for a, b in zip(root[max(i, j)], root[min(i, j)])) + (i == j)) for j in range(dim)] for i in range(dim)]


def case(seed, points, parts, dim, spread=1.0):
    rng = golden.generator(seed)
    x, mean = golden.normals(rng, points * dim, 0, 1.5), golden.normals(rng, parts * dim, 0, spread)
    shares = [rng.uniform(0.2, 1) for _ in range(parts)]
    weight = [golden.f32(v / sum(shares)) for v in shares]
    cov = [covariance(rng, dim) for _ in range(parts)]
    rows = [[Fraction(v) for v in x[n * dim:(n + 1) * dim]] for n in range(points)]
    turned = [inverse([[Fraction(v) for v in row] for row in matrix]) for matrix in cov]
    resp = []
    for v in rows:
        density = []
        for k, (matrix, determinant) in enumerate(turned):
            off = [a - Fraction(m) for a, m in zip(v, mean[k * dim:(k + 1) * dim])]
            far = sum(a * b * m for a, row in zip(off, matrix) for b, m in zip(off, row))
            density.append(golden.exact(weight[k]) * (-decimal_of(far) / 2).exp() / decimal_of(determinant).sqrt())
        resp.append([d / sum(density) for d in density])
    exact = [[decimal_of(a) for a in v] for v in rows]
    n = [golden.exact("1e-3") + sum(r[k] for r in resp) for k in range(parts)]
    new_mean = [[sum(r[k] * v[i] for r, v in zip(resp, exact)) / n[k] for i in range(dim)] for k in range(parts)]
    new_cov = [sum(r[k] * (v[i] - new_mean[k][i]) * (v[j] - new_mean[k][j]) for r, v in zip(resp, exact)) / n[k]
               + (golden.exact("1e-4") if i == j else 0) for k in range(parts) for i in range(dim) for j in range(dim)]
    return {"dims": {"points": points, "parts": parts, "dim": dim}, "scalars": {},
            "inputs": {"x": x, "weight": weight, "mean": mean, "cov": [v for m in cov for row in m for v in row]},
            "expected": {"resp": [float(v) for r in resp for v in r], "new_weight": [float(v / sum(n)) for v in n],
                         "new_mean": [float(v) for m in new_mean for v in m], "new_cov": [float(v) for v in new_cov]}}


golden.write("level3/10", [case(1, 12, 3, 2), case(2, 8, 1, 1), case(3, 12, 2, 4, 3.0), case(4, 20, 4, 3)])
