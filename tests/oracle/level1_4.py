"""Golden vectors of level1/4: the triangle is clipped by the four sides of the box; what is left is empty or not. Exact."""

from fractions import Fraction

import golden


def clip(polygon, axis, limit, sign):
    """The part of a closed polygon with sign * coordinate <= sign * limit."""
    inside, out = [sign * (limit - p[axis]) >= 0 for p in polygon], []
    for i, p in enumerate(polygon):
        q = polygon[i - 1]
        if inside[i] != inside[i - 1]:
            share = (limit - q[axis]) / (p[axis] - q[axis])
            out.append((q[0] + share * (p[0] - q[0]), q[1] + share * (p[1] - q[1])))
        if inside[i]:
            out.append(p)
    return out


def case(seed, pairs, step, reach, size):
    rng = golden.generator(seed)

    def draw(count, low, high):
        return [rng.randint(int(low / step), int(high / step)) * step for _ in range(count)]

    center, extent, triangle = draw(2 * pairs, -reach, reach), draw(2 * pairs, 0, size), draw(6 * pairs, -1, 1)
    overlap = []
    for p in range(pairs):
        left = [(Fraction(triangle[6 * p + 2 * i]), Fraction(triangle[6 * p + 2 * i + 1])) for i in range(3)]
        for axis in range(2):
            for sign in (1, -1):
                left = clip(left, axis, Fraction(center[2 * p + axis]) + sign * Fraction(extent[2 * p + axis]), sign)
        overlap.append(int(bool(left)))
    return {"dims": {"pairs": pairs}, "scalars": {},
            "inputs": {"center": center, "extent": extent, "triangle": triangle}, "expected": {"overlap": overlap}}


golden.write("level1/4", [case(1, 60, 1 / 1024, 1, 0.5), case(2, 200, 1 / 2, 1, 0.5), case(3, 200, 1 / 4, 1, 0.5),
                          case(4, 60, 1 / 1024, 0.5, 0.1), case(5, 100, 1 / 2, 1, 0.0)])
