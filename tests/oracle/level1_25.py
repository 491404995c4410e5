"""Golden vectors of level1/25: the plain sum less what is masked out, exactly."""

from fractions import Fraction

import golden


def case(seed, ranks, rows, cols, share):
    rng = golden.generator(seed)
    size = rows * cols
    x = golden.normals(rng, ranks * size)
    mask = [int(rng.random() < share) for _ in range(ranks * size)]
    y = []
    for i in range(size):
        every = sum(Fraction(x[r * size + i]) for r in range(ranks))
        y.append(float(every - sum(Fraction(x[r * size + i]) for r in range(ranks) if not mask[r * size + i])))
    return {"dims": {"ranks": ranks, "rows": rows, "cols": cols}, "scalars": {},
            "inputs": {"x": x, "mask": mask}, "expected": {"y": y}}


golden.write("level1/25", [case(1, 4, 3, 7, 0.6), case(2, 1, 1, 1, 1), case(3, 3, 2, 5, 0), case(4, 9, 4, 4, 0.2)])
