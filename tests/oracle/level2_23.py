"""Golden vectors of level2/23: the exact triangular system (L + D) d = sqrt(D) noise - U (x - mu), solved column by column."""

from fractions import Fraction

import golden


def decimal_of(value):
    return golden.exact(value.numerator) / golden.exact(value.denominator)


def spread(rng, dim):
    """A symmetric matrix of floats with dominant diagonal."""
    p = [[0.0] * dim for _ in range(dim)]
    for i in range(dim):
        for j in range(i):
            p[i][j] = p[j][i] = golden.f32(rng.gauss(0, 1))
        p[i][i] = golden.f32(dim * rng.uniform(0.7, 2))
    return p


def case(seed, chains, dim, x_mean=0.0):
    rng = golden.generator(seed)
    p = spread(rng, dim)
    inputs = {"x": golden.normals(rng, chains * dim, x_mean), "mu": golden.normals(rng, dim),
              "precision": [v for row in p for v in row], "noise": golden.normals(rng, chains * dim)}
    mu, x_next = [Fraction(v) for v in inputs["mu"]], []
    roots = [golden.exact(p[i][i]).sqrt() for i in range(dim)]
    for c in range(chains):
        off = [Fraction(v) - m for v, m in zip(inputs["x"][c * dim:], mu)]
        side = [golden.exact(inputs["noise"][c * dim + i]) * roots[i]
                - decimal_of(sum((Fraction(p[i][j]) * off[j] for j in range(i + 1, dim)), Fraction(0))) for i in range(dim)]
        for i in range(dim):
            side[i] /= golden.exact(p[i][i])
            for k in range(i + 1, dim):
                side[k] -= golden.exact(p[k][i]) * side[i]
        x_next += [float(v + decimal_of(m)) for v, m in zip(side, mu)]
    return {"dims": {"chains": chains, "dim": dim}, "scalars": {}, "inputs": inputs, "expected": {"x_next": x_next}}


golden.write("level2/23", [case(1, 9, 7), case(2, 1, 1), case(3, 4, 20, 4.0), case(4, 13, 2)])
