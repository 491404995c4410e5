"""Golden vectors of level2/34: every row is sent with its address and sorted by where it belongs, products exact."""

from fractions import Fraction

import golden


def case(seed, ranks, rows, cols):
    rng = golden.generator(seed)
    x = [golden.normals(rng, ranks * rows * cols) for _ in range(ranks)]
    gain = [golden.normals(rng, cols, 1.0, 0.3) for _ in range(ranks)]
    order = [rng.sample(range(ranks * rows), ranks * rows) for _ in range(ranks)]
    mail = []
    for q in range(ranks):
        for number in range(ranks * rows):
            to, i = divmod(number, rows)
            row = x[q][number * cols:(number + 1) * cols]
            mail.append((to, order[to].index(q * rows + i),
                         [float(Fraction(g) * Fraction(v)) for g, v in zip(gain[q], row)]))
    return {"dims": {"ranks": ranks, "rows": rows, "cols": cols}, "scalars": {},
            "inputs": {"x": sum(x, []), "gain": sum(gain, []), "order": sum(order, [])},
            "expected": {"y": [v for _, _, row in sorted(mail, key=lambda m: m[:2]) for v in row]}}


golden.write("level2/34", [case(1, 2, 3, 5), case(2, 4, 2, 3), case(3, 1, 6, 2), case(4, 8, 1, 2)])
