"""Golden vectors of level1/22: matrices over 50-digit decimals; the layer is written with lists of columns, node by node."""

import decimal

import golden


def times(matrix, column):
    return [sum((a * b for a, b in zip(row, column)), decimal.Decimal(0)) for row in matrix]


def case(seed, nodes, scalars, vectors, scalars_out, vectors_out, whole=False, std=1):
    rng = golden.generator(seed)
    features = scalars + vectors
    count = {"s": nodes * scalars, "v": nodes * vectors * 3, "w_s": scalars_out * features, "bias_s": scalars_out,
             "w_g": vectors_out * features, "bias_g": vectors_out, "w_v": vectors_out * vectors}
    inputs = {name: golden.normals(rng, size, 0, std if name == "s" else 0.7) for name, size in count.items()}
    if whole:
        inputs["v"] = [float(rng.randint(-1, 1)) for _ in inputs["v"]]

    def matrix(name, width):
        values = [golden.exact(value) for value in inputs[name]]
        return [values[i:i + width] for i in range(0, len(values), width)]

    w_s, w_g, w_v = matrix("w_s", features), matrix("w_g", features), matrix("w_v", vectors)
    arrows = matrix("v", 3)
    out = {"s_out": [], "v_out": []}
    for n, own in enumerate(matrix("s", scalars)):
        mine = arrows[n * vectors:(n + 1) * vectors]
        feature = own + [sum(x * x for x in arrow).sqrt() for arrow in mine]
        out["s_out"] += [float(y + golden.exact(b)) for y, b in zip(times(w_s, feature), inputs["bias_s"])]
        tails = [(-y - golden.exact(b)).exp() for y, b in zip(times(w_g, feature), inputs["bias_g"])]
        axes = [times(w_v, [arrow[x] for arrow in mine]) for x in range(3)]
        out["v_out"] += [float(axes[x][o] / (1 + tails[o])) for o in range(vectors_out) for x in range(3)]
    return {"dims": {"nodes": nodes, "scalars": scalars, "vectors": vectors, "scalars_out": scalars_out,
                     "vectors_out": vectors_out}, "scalars": {}, "inputs": inputs, "expected": out}


golden.write("level1/22", [case(1, 7, 4, 3, 5, 2), case(2, 1, 1, 1, 1, 1), case(3, 5, 2, 6, 3, 4, whole=True),
                           case(4, 3, 6, 2, 2, 3, std=12)])
