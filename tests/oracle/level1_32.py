"""Golden vectors of level1/32: the ranks of an element, sorted by value and then by rank."""

import golden


def case(seed, ranks, rows, cols, step):
    rng = golden.generator(seed)
    size = rows * cols
    x = [rng.randint(1 - round(1 / step), round(1 / step)) * step - 0.125 for _ in range(ranks * size)]
    order = [sorted((-x[r * size + i], r) for r in range(ranks)) for i in range(size)]
    return {"dims": {"ranks": ranks, "rows": rows, "cols": cols}, "scalars": {}, "inputs": {"x": x},
            "expected": {"top": [-places[0][0] for places in order], "owner": [places[0][1] for places in order]}}


golden.write("level1/32", [case(1, 4, 3, 5, 1 / 8), case(2, 1, 1, 1, 1), case(3, 9, 4, 7, 1), case(4, 3, 10, 2, 1 / 1024)])
