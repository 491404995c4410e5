"""Golden vectors of level2/18: squares as exact fractions, roots of 50 digits."""

from fractions import Fraction

import golden


def case(seed, ranks, rows, cols, std):
    rng = golden.generator(seed)
    x = [golden.normals(rng, rows * cols, 0.0, std) for _ in range(ranks)]
    gain = [golden.normals(rng, cols, 1.0, 0.3) for _ in range(ranks)]
    y = []
    for i in range(rows):
        row = [v for part in x for v in part[i * cols:(i + 1) * cols]]
        mean = sum(Fraction(v) ** 2 for v in row) / len(row) + Fraction(1e-5)
        root = (golden.exact(mean.numerator) / golden.exact(mean.denominator)).sqrt()
        gains = [g for part in gain for g in part]
        y += [float(golden.exact(g) * golden.exact(v) / root) for g, v in zip(gains, row)]
    return {"dims": {"ranks": ranks, "rows": rows, "cols": cols}, "scalars": {},
            "inputs": {"x": sum(x, []), "gain": sum(gain, [])}, "expected": {"y": y * ranks}}


golden.write("level2/18", [case(1, 2, 3, 5, 1.0), case(2, 4, 2, 3, 0.003), case(3, 1, 3, 7, 1.0),
                           case(4, 8, 1, 2, 0.01)])
