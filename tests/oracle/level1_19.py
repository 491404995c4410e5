"""Golden vectors of level1/19: exact squared distances, then a 50-digit square root."""

from fractions import Fraction

import golden


def case(seed, batch, points, axes, mean):
    rng = golden.generator(seed)
    x = golden.normals(rng, batch * points * axes, mean)
    dist = []
    for b in range(batch):
        cloud = [[Fraction(v) for v in x[(b * points + i) * axes:(b * points + i + 1) * axes]] for i in range(points)]
        for p in cloud:
            for q in cloud:
                square = Fraction(1, 10**8) + sum((u - v) ** 2 for u, v in zip(p, q))
                dist.append(float((golden.exact(square.numerator) / golden.exact(square.denominator)).sqrt()))
    return {"dims": {"batch": batch, "points": points, "axes": axes}, "scalars": {}, "inputs": {"x": x},
            "expected": {"dist": dist}}


golden.write("level1/19", [case(1, 2, 9, 3, 0), case(2, 1, 1, 1, 0), case(3, 1, 5, 4, 30), case(4, 3, 2, 2, 0)])
