"""Golden vectors of level3/7: K^-1 by Gauss-Jordan elimination on 50-digit decimals, without any triangle."""

import golden
from layers import dot


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


def case(seed, batch, points, tests, dim, scale, variance, noise, whole=False):
    rng = golden.generator(seed)
    draw = (lambda count: [float(rng.randint(-1, 1)) for _ in range(count)]) if whole else (lambda count: golden.normals(rng, count))
    inputs = {"x": draw(batch * points * dim), "y": golden.normals(rng, batch * points), "xs": draw(batch * tests * dim)}
    scalars = {"scale": golden.f32(scale), "variance": golden.f32(variance), "noise": golden.f32(noise)}
    s, top, jitter = (golden.exact(scalars[name]) for name in ("scale", "variance", "noise"))

    def rbf(u, v):
        return top * (-sum((p - q) ** 2 for p, q in zip(u, v)) / (2 * s * s)).exp()

    rows = lambda name, first, count: [[golden.exact(v) for v in inputs[name][r * dim:(r + 1) * dim]]
                                       for r in range(first, first + count)]
    mean, var = [], []
    for b in range(batch):
        x, xs = rows("x", b * points, points), rows("xs", b * tests, tests)
        y = [golden.exact(v) for v in inputs["y"][b * points:(b + 1) * points]]
        matrix = [[rbf(u, v) + (jitter if i == j else 0) for j, v in enumerate(x)] for i, u in enumerate(x)]
        sides = [[rbf(u, t) for u in x] for t in xs]
        for side, z in zip(sides, solved(matrix, sides)):
            mean.append(float(dot(z, y)))
            var.append(float(max(top - dot(z, side), golden.exact("1e-6"))))
    return {"dims": {"batch": batch, "points": points, "tests": tests, "dim": dim}, "scalars": scalars,
            "inputs": inputs, "expected": {"mean": mean, "var": var}}


golden.write("level3/7", [case(1, 2, 6, 3, 2, 0.7, 1.1, 0.06), case(2, 1, 1, 1, 1, 0.5, 0.9, 0.1),
                          case(3, 1, 20, 4, 3, 1.0, 1.5, 0.05), case(4, 1, 8, 5, 1, 0.6, 0.8, 0.2, whole=True)])
