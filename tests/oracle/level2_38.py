"""Golden vectors of level2/38: both stages with 50 digits, one rank's whole batch after another."""

import golden


def layer(rows, weights, shifts, width):
    columns = [weights[o * width:(o + 1) * width] for o in range(len(shifts))]
    return [[sum((a * golden.exact(b) for a, b in zip(row, column)), golden.exact(shift))
             for column, shift in zip(columns, shifts)] for row in rows]


def case(seed, ranks, batch, win, hidden, out):
    rng = golden.generator(seed)

    def tensors(count, std=1.0):
        return [golden.normals(rng, count, 0.0, std) for _ in range(ranks)]

    x, w1, b1 = tensors(batch * win), tensors(hidden * win, 0.5), tensors(hidden, 0.3)
    w2, b2 = tensors(out * hidden, 0.5), tensors(out, 0.3)
    y = []
    for r in range(ranks):
        rows = [[golden.exact(v) for v in x[r][b * win:(b + 1) * win]] for b in range(batch)]
        h = [[z / (1 + (-z).exp()) for z in row] for row in layer(rows, w1[r], b1[r], win)]
        s = (r + 1) % ranks
        y += [float(v) for row in layer(h, w2[s], b2[s], hidden) for v in row]
    return {"dims": {"ranks": ranks, "batch": batch, "win": win, "hidden": hidden, "out": out}, "scalars": {},
            "inputs": {"x": sum(x, []), "w1": sum(w1, []), "b1": sum(b1, []), "w2": sum(w2, []), "b2": sum(b2, [])},
            "expected": {"y": y}}


golden.write("level2/38", [case(1, 2, 3, 5, 7, 4), case(2, 4, 2, 3, 4, 5), case(3, 8, 1, 2, 3, 2)])
