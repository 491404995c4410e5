"""Golden vectors of level1/29: the sum of the powers themselves, in 50-digit decimals without a limit of the exponent."""

import golden


def case(seed, ranks, rows, cols, mean, std):
    rng = golden.generator(seed)
    size = rows * cols
    x = golden.normals(rng, ranks * size, mean, std)
    y = [float(sum(golden.exact(x[r * size + i]).exp() for r in range(ranks)).ln()) for i in range(size)]
    return {"dims": {"ranks": ranks, "rows": rows, "cols": cols}, "scalars": {}, "inputs": {"x": x}, "expected": {"y": y}}


golden.write("level1/29", [case(1, 4, 3, 5, 0, 2), case(2, 1, 1, 1, -3, 1), case(3, 3, 2, 7, 300, 100),
                           case(4, 9, 4, 2, -5000, 3)])
