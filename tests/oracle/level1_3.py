"""Golden vectors of level1/3: the sparse matrix is expanded to a dense one and multiplied exactly."""

from fractions import Fraction

import golden


def case(seed, degrees, cols, k):
    rng = golden.generator(seed)
    rows, row_ptr, col = len(degrees), [0], []
    for degree in degrees:
        col += sorted(rng.sample(range(cols), degree))
        row_ptr.append(len(col))
    val = golden.normals(rng, len(col))
    x = golden.normals(rng, cols * k)
    dense = [[Fraction(0)] * cols for _ in range(rows)]
    for r in range(rows):
        for e in range(row_ptr[r], row_ptr[r + 1]):
            dense[r][col[e]] = Fraction(val[e])
    y = [float(sum(dense[r][c] * Fraction(x[c * k + f]) for c in range(cols))) for r in range(rows) for f in range(k)]
    return {"dims": {"rows": rows, "cols": cols, "nnz": len(col), "k": k}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "col": col, "val": val, "x": x}, "expected": {"y": y}}


golden.write("level1/3", [case(1, [3, 0, 1, 7, 2], 8, 5), case(2, [0], 1, 1), case(3, [0, 0, 6, 0], 6, 3),
                          case(4, [1] * 9, 4, 2)])
