"""Golden vectors of level2/33: the quaternion product q p q* / |q|^2 in exact fractions, no matrix."""

from fractions import Fraction

import golden


def product(a, b):
    (s, u), (t, v) = (a[0], a[1:]), (b[0], b[1:])
    cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    return [s * t - sum(x * y for x, y in zip(u, v))] + [s * y + t * x + c for x, y, c in zip(u, v, cross)]


def case(seed, batch, points, std=1.0, mean=0.0):
    rng = golden.generator(seed)
    point = golden.normals(rng, batch * points * 3, mean)
    quat, shift = golden.normals(rng, batch * 4, 0.0, std), golden.normals(rng, batch * 3)
    moved = []
    for b in range(batch):
        q = [Fraction(v) for v in quat[b * 4:b * 4 + 4]]
        back = [q[0]] + [-v for v in q[1:]]
        for n in range(b * points, (b + 1) * points):
            turned = product(product(q, [Fraction(0)] + [Fraction(v) for v in point[n * 3:n * 3 + 3]]), back)
            moved += [float(t / sum(v * v for v in q) + Fraction(s)) for t, s in zip(turned[1:], shift[b * 3:b * 3 + 3])]
    return {"dims": {"batch": batch, "points": points}, "scalars": {}, "inputs": {"point": point, "quat": quat, "shift": shift},
            "expected": {"moved": moved}}


golden.write("level2/33", [case(1, 3, 5), case(2, 1, 1), case(3, 2, 33, 300.0), case(4, 4, 2, 0.001, 20.0)])
