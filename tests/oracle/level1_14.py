"""Golden vectors of level1/14: the exponent is an exact fraction of exact distances, its exponential has 50 digits."""

from fractions import Fraction

import golden


def case(seed, batch, rows, cols, axes, log_length, log_variance, whole=False):
    rng = golden.generator(seed)

    def points(count):
        return [float(rng.randint(-1, 1)) for _ in range(count)] if whole else golden.normals(rng, count)

    x1, x2 = points(batch * rows * axes), points(batch * cols * axes)
    log_length, log_variance = golden.f32(log_length), golden.f32(log_variance)
    shrink = (-2 * golden.exact(log_length)).exp() / 2
    cov = []
    for n in range(batch):
        for i in range(rows):
            a = x1[(n * rows + i) * axes:(n * rows + i + 1) * axes]
            for j in range(cols):
                b = x2[(n * cols + j) * axes:(n * cols + j + 1) * axes]
                d2 = sum((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(a, b))
                exact = golden.exact(d2.numerator) / golden.exact(d2.denominator)
                cov.append(float((golden.exact(log_variance) - shrink * exact).exp()))
    return {"dims": {"batch": batch, "rows": rows, "cols": cols, "axes": axes},
            "scalars": {"log_length": log_length, "log_variance": log_variance},
            "inputs": {"x1": x1, "x2": x2}, "expected": {"cov": cov}}


golden.write("level1/14", [case(1, 2, 7, 5, 3, 0.3, 0.7), case(2, 1, 1, 1, 1, 0, 0), case(3, 1, 6, 9, 4, 0.9, -1.2),
                           case(4, 2, 5, 4, 2, -0.1, 1.1, whole=True)])
