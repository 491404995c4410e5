"""Golden vectors of level2/28: the variance as half the mean squared difference of all pairs, a rational number."""

from fractions import Fraction

import golden


def decimal_of(value):
    return golden.exact(value.numerator) / golden.exact(value.denominator)


def case(seed, batch, groups, per, height, width, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    channels, area = groups * per, height * width
    span = per * area
    inputs = {"x": golden.normals(rng, batch * channels * area, mean, std), "gain": golden.normals(rng, channels, 1, 0.3),
              "shift": golden.normals(rng, channels, 0, 0.5)}
    y = []
    for first in range(0, batch * channels * area, span):
        x = [Fraction(v) for v in inputs["x"][first:first + span]]
        var = sum((a - b) ** 2 for a in x for b in x) / (2 * span * span)
        deviation = (decimal_of(var) + golden.exact("1e-5")).sqrt()
        for i, v in enumerate(x):
            c = (first + i) // area % channels
            z = decimal_of(v - sum(x) / span) / deviation * golden.exact(inputs["gain"][c]) + golden.exact(inputs["shift"][c])
            y.append(float(z / (1 + (-z).exp())))
    return {"dims": {"batch": batch, "groups": groups, "per": per, "height": height, "width": width}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level2/28", [case(1, 2, 2, 3, 3, 4), case(2, 1, 1, 1, 1, 1), case(3, 1, 3, 2, 5, 1, 30.0, 0.5),
                           case(4, 2, 1, 4, 2, 3, 0.0, 0.004)])
