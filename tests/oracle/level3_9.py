"""Golden vectors of level3/9: the posterior by Gauss-Jordan elimination on exact fractions, without any triangle."""

from fractions import Fraction

import golden


def solved(matrix, columns):
    """matrix^-1 times each column."""
    n = len(matrix)
    rows = [list(row) + [c[i] for c in columns] for i, row in enumerate(matrix)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [a / rows[k][k] for a in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return [[rows[i][n + c] for i in range(n)] for c in range(len(columns))]


def case(seed, batch, points, tests, dim, alpha, beta, std=1.0):
    rng = golden.generator(seed)
    inputs = {"x": golden.normals(rng, batch * points * dim, 0, std), "y": golden.normals(rng, batch * points),
              "xs": golden.normals(rng, batch * tests * dim)}
    alpha, beta = golden.f32(alpha), golden.f32(beta)
    rows = lambda name, first, count: [[Fraction(v) for v in inputs[name][r * dim:(r + 1) * dim]]
                                       for r in range(first, first + count)]
    mean, var = [], []
    for b in range(batch):
        x, xs = rows("x", b * points, points), rows("xs", b * tests, tests)
        y = [Fraction(v) for v in inputs["y"][b * points:(b + 1) * points]]
        precision = [[Fraction(beta) * sum(r[i] * r[j] for r in x) + (Fraction(alpha) if i == j else 0) for j in range(dim)]
                     for i in range(dim)]
        moment = [Fraction(beta) * sum(r[i] * t for r, t in zip(x, y)) for i in range(dim)]
        weights, *spread = solved(precision, [moment] + xs)
        for test, s in zip(xs, spread):
            mean.append(float(sum(p * q for p, q in zip(weights, test))))
            var.append(float(1 / Fraction(beta) + sum(p * q for p, q in zip(test, s))))
    return {"dims": {"batch": batch, "points": points, "tests": tests, "dim": dim}, "scalars": {"alpha": alpha, "beta": beta},
            "inputs": inputs, "expected": {"mean": mean, "var": var}}


golden.write("level3/9", [case(1, 2, 7, 3, 4, 0.7, 1.3), case(2, 1, 1, 1, 1, 1, 1), case(3, 1, 2, 2, 6, 0.5, 2.0, 3.0),
                          case(4, 1, 40, 2, 3, 2.0, 0.5)])
