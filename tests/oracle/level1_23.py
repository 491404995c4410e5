"""Golden vectors of level1/23: every rank's value is listed once for each of its samples; exact mean of the list."""

from fractions import Fraction

import golden


def case(seed, ranks, rows, cols, samples, mean=0.0):
    rng = golden.generator(seed)
    x = golden.normals(rng, ranks * rows * cols, mean)
    y = []
    for i in range(rows * cols):
        every = [Fraction(x[r * rows * cols + i]) for r in range(ranks) for _ in range(samples[r])]
        y.append(float(sum(every) / len(every)))
    return {"dims": {"ranks": ranks, "rows": rows, "cols": cols}, "scalars": {},
            "inputs": {"x": x, "samples": samples}, "expected": {"y": y}}


golden.write("level1/23", [case(1, 4, 3, 5, [3, 17, 1, 40]), case(2, 1, 1, 1, [5]), case(3, 3, 2, 7, [0, 1, 0]),
                           case(4, 7, 4, 2, [9, 300, 2, 2, 1, 31, 8], 10.0)])
