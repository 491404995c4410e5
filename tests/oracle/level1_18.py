"""Golden vectors of level1/18: one dense matrix for each head, multiplied exactly."""

from fractions import Fraction

import golden


def case(seed, degrees, cols, heads, feature, positive=False):
    rng = golden.generator(seed)
    rows, row_ptr, col = len(degrees), [0], []
    for degree in degrees:
        col += sorted(rng.sample(range(cols), degree))
        row_ptr.append(len(col))
    weight = [golden.f32(rng.lognormvariate(-3, 1.5) if positive else rng.gauss(0, 1)) for _ in range(len(col) * heads)]
    x = golden.normals(rng, cols * heads * feature)
    y = [0.0] * (rows * heads * feature)
    for h in range(heads):
        dense = [[Fraction(0)] * cols for _ in range(rows)]
        for r in range(rows):
            for e in range(row_ptr[r], row_ptr[r + 1]):
                dense[r][col[e]] = Fraction(weight[e * heads + h])
        for r in range(rows):
            for f in range(feature):
                column = [Fraction(x[(c * heads + h) * feature + f]) for c in range(cols)]
                y[(r * heads + h) * feature + f] = float(sum(a * b for a, b in zip(dense[r], column)))
    return {"dims": {"rows": rows, "cols": cols, "nnz": len(col), "heads": heads, "feature": feature}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "col": col, "weight": weight, "x": x}, "expected": {"y": y}}


golden.write("level1/18", [case(1, [3, 0, 1, 6, 2], 7, 3, 4), case(2, [0], 1, 1, 1),
                           case(3, [0, 5, 0], 6, 2, 5, positive=True), case(4, [1] * 7, 3, 4, 1)])
