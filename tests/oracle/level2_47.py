"""Golden vectors of level2/47: each rank's share of the layer by itself, then their sum, in exact fractions."""

from fractions import Fraction

import golden


def case(seed, ranks, batch, hidden, out, mean=0.0):
    rng = golden.generator(seed)
    joined = ranks * hidden
    inputs = {"x": golden.normals(rng, ranks * batch * hidden, mean), "w": golden.normals(rng, out * joined, 0, joined ** -0.5),
              "bias": golden.normals(rng, out, 0, 0.5)}
    x, w, bias = ([Fraction(v) for v in inputs[name]] for name in ("x", "w", "bias"))
    y = [bias[i % out] for i in range(batch * out)]
    for r in range(ranks):
        rows = [x[(r * batch + b) * hidden:(r * batch + b + 1) * hidden] for b in range(batch)]
        share = [w[o * joined + r * hidden:o * joined + (r + 1) * hidden] for o in range(out)]
        for b, row in enumerate(rows):
            for o, part in enumerate(share):
                y[b * out + o] += sum(u * v for u, v in zip(row, part))
    return {"dims": {"ranks": ranks, "batch": batch, "hidden": hidden, "out": out}, "scalars": {}, "inputs": inputs,
            "expected": {"y": [float(v) for v in y]}}


golden.write("level2/47", [case(1, 3, 5, 4, 6), case(2, 1, 1, 1, 1), case(3, 4, 2, 9, 3, 2.0), case(4, 7, 3, 1, 2)])
