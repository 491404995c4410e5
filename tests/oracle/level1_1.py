"""Golden vectors of level1/1: each channel is the product of two polynomials, cut to its middle; exact."""

from fractions import Fraction

import golden


def case(seed, batch, channels, length, taps):
    rng = golden.generator(seed)
    x = golden.normals(rng, batch * channels * length)
    w = golden.normals(rng, channels * taps, 0, 0.6)
    y = []
    for row in range(batch * channels):
        signal = x[row * length:(row + 1) * length]
        c = row % channels
        turned = list(reversed(w[c * taps:(c + 1) * taps]))
        product = [Fraction(0)] * (length + taps - 1)
        for i, a in enumerate(signal):
            for j, b in enumerate(turned):
                product[i + j] += Fraction(a) * Fraction(b)
        first = taps // 2
        y += [float(v) for v in product[first:first + length]]
    return {"dims": {"batch": batch, "channels": channels, "length": length, "taps": taps}, "scalars": {},
            "inputs": {"x": x, "w": w}, "expected": {"y": y}}


golden.write("level1/1", [case(1, 2, 3, 11, 3), case(2, 1, 1, 1, 1), case(3, 1, 2, 5, 4), case(4, 2, 2, 3, 9),
                          case(5, 1, 3, 7, 2)])
