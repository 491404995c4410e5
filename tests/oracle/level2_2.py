"""Golden vectors of level2/2: the slices joined to one long row each, products as exact fractions."""

from fractions import Fraction

import golden


def case(seed, ranks, batch, win, out):
    rng = golden.generator(seed)
    x = golden.normals(rng, ranks * batch * win)
    w = golden.normals(rng, ranks * out * win)
    bias = golden.normals(rng, out, 0.0, 0.3)

    def row(values, rows, i):
        return [Fraction(v) for q in range(ranks) for v in values[(q * rows + i) * win:(q * rows + i + 1) * win]]

    y = [float(Fraction(bias[o]) + sum(a * b for a, b in zip(row(x, batch, b_), row(w, out, o))))
         for b_ in range(batch) for o in range(out)]
    return {"dims": {"ranks": ranks, "batch": batch, "win": win, "out": out}, "scalars": {},
            "inputs": {"x": x, "w": w, "bias": bias}, "expected": {"y": y * ranks}}


golden.write("level2/2", [case(1, 2, 3, 5, 4), case(2, 4, 2, 3, 5), case(3, 1, 3, 7, 2), case(4, 8, 1, 2, 3)])
