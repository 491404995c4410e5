"""Golden vectors of level1/9: every h[t] as an explicit sum of products, exactly."""

from fractions import Fraction

import golden


def case(seed, batch, length, channels, low, high):
    rng = golden.generator(seed)
    size = batch * length * channels
    a = [golden.f32(rng.uniform(low, high)) for _ in range(size)]
    b = golden.normals(rng, size)
    h = [0.0] * size
    for n in range(batch):
        for c in range(channels):
            at = [(n * length + t) * channels + c for t in range(length)]
            for t in range(length):
                total, product = Fraction(0), Fraction(1)
                for s in range(t, -1, -1):
                    total += product * Fraction(b[at[s]])
                    product *= Fraction(a[at[s]])
                h[at[t]] = float(total)
    return {"dims": {"batch": batch, "length": length, "channels": channels}, "scalars": {}, "inputs": {"a": a, "b": b},
            "expected": {"h": h}}


golden.write("level1/9", [case(1, 2, 13, 3, 0.99, 1.005), case(2, 1, 1, 1, 0.99, 1.005), case(3, 1, 40, 2, -0.9, 0.9),
                          case(4, 3, 2, 5, -1, 1)])
