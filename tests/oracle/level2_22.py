"""Golden vectors of level2/22: exact rational distances, the ball as a list."""

from fractions import Fraction

import golden


def case(seed, batch, points, queries, channels, radius2):
    rng = golden.generator(seed)
    radius2 = golden.f32(radius2)
    point = [rng.randint(-512, 512) / 1024 for _ in range(batch * points * 3)]
    center = [rng.randint(-512, 512) / 1024 for _ in range(batch * queries * 3)]
    feature = golden.normals(rng, batch * points * channels, -0.5)
    pooled = []
    for b in range(batch):
        for q in range(queries):
            at = center[(b * queries + q) * 3:(b * queries + q) * 3 + 3]
            ball = [p for p in range(b * points, (b + 1) * points)
                    if sum((Fraction(u) - Fraction(v)) ** 2 for u, v in zip(at, point[p * 3:p * 3 + 3])) <= Fraction(radius2)]
            pooled += [max((feature[p * channels + c] for p in ball), default=0.0) for c in range(channels)]
    return {"dims": {"batch": batch, "points": points, "queries": queries, "channels": channels},
            "scalars": {"radius2": radius2}, "inputs": {"point": point, "center": center, "feature": feature},
            "expected": {"pooled": pooled}}


golden.write("level2/22", [case(1, 2, 12, 5, 3, 0.2), case(2, 1, 1, 1, 1, 0.001), case(3, 1, 40, 6, 2, 0.05),
                           case(4, 1, 3, 9, 4, 4.0)])
