"""Golden vectors of level2/11: the root's parameters as exact fractions, one dot product at a time."""

from fractions import Fraction

import golden


def case(seed, ranks, root, batch, win, out):
    rng = golden.generator(seed)
    x = golden.normals(rng, ranks * batch * win)
    w = [golden.normals(rng, out * win) for _ in range(ranks)]
    bias = [golden.normals(rng, out, 0.0, 0.3) for _ in range(ranks)]
    rows = [x[i * win:(i + 1) * win] for i in range(ranks * batch)]
    columns = [w[root][o * win:(o + 1) * win] for o in range(out)]
    y = [float(sum((Fraction(a) * Fraction(b) for a, b in zip(row, column)), Fraction(shift)))
         for row in rows for column, shift in zip(columns, bias[root])]
    return {"dims": {"ranks": ranks, "batch": batch, "win": win, "out": out}, "scalars": {"root": root},
            "inputs": {"x": x, "w": sum(w, []), "bias": sum(bias, [])}, "expected": {"y": y}}


golden.write("level2/11", [case(1, 2, 1, 3, 5, 4), case(2, 4, 2, 2, 3, 5), case(3, 1, 0, 3, 7, 2),
                           case(4, 8, 7, 1, 2, 3), case(5, 2, 0, 2, 3, 2)])
