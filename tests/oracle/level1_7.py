"""Golden vectors of level1/7: every pair of a sample and a tap, exactly; no transform."""

from fractions import Fraction

import golden


def case(seed, batch, channels, length):
    rng = golden.generator(seed)
    x = golden.normals(rng, batch * channels * length)
    taps = golden.normals(rng, channels * length, 0, length ** -0.5)
    y = [Fraction(0)] * (batch * channels * length)
    for row in range(batch * channels):
        c = row % channels
        for s in range(length):
            for t in range(length - s):
                y[row * length + s + t] += Fraction(taps[c * length + s]) * Fraction(x[row * length + t])
    return {"dims": {"batch": batch, "channels": channels, "length": length}, "scalars": {},
            "inputs": {"x": x, "filter": taps}, "expected": {"y": [float(v) for v in y]}}


golden.write("level1/7", [case(1, 3, 2, 11), case(2, 1, 1, 1), case(3, 1, 1, 64), case(4, 2, 3, 33)])
