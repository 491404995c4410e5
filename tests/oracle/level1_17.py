"""Golden vectors of level1/17: the neighbours' features are sorted, the last counts. JSON has no infinity: no row is empty."""

import golden


def case(seed, degrees, cols, width, mean=0.0):
    rng = golden.generator(seed)
    x = golden.normals(rng, cols * width, mean)
    row_ptr, col, y = [0], [], []
    for degree in degrees:
        mine = sorted(rng.sample(range(cols), degree))
        col += mine
        row_ptr.append(len(col))
        y += [sorted(x[c * width + f] for c in mine)[-1] for f in range(width)]
    return {"dims": {"rows": len(degrees), "cols": cols, "edges": len(col), "width": width}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "col": col, "x": x}, "expected": {"y": y}}


golden.write("level1/17", [case(1, [3, 1, 6, 2, 1], 7, 5), case(2, [1], 1, 1), case(3, [5, 12, 4], 12, 3, -50.0),
                           case(4, [1] * 7, 3, 4)])
