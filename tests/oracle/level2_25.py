"""Golden vectors of level2/25: each pair as a mean over the list of sequences that have both residues, in 50-digit decimals."""

import golden
from layers import dot, layer_norm, linear, vectors


def case(seed, batch, depth, res, channels, hidden, edge, keep=0.8, mean=0.0):
    rng = golden.generator(seed)
    places = batch * depth * res
    draw = lambda count, std=1.0, m=0.0: golden.normals(rng, count, m, std)
    inputs = {"msa": draw(places * channels, 1.0, mean), "mask": [float(rng.random() < keep) for _ in range(places)],
              "norm_gain": draw(channels, 0.2, 1), "norm_bias": draw(channels, 0.2),
              "w_side": draw(2 * hidden * channels, channels ** -0.5), "b_side": draw(2 * hidden, 0.3),
              "w_out": draw(edge * hidden * hidden, 1 / hidden), "b_out": draw(edge, 0.1)}
    wide = {name: vectors(inputs[name], channels) for name in ("msa", "norm_gain", "norm_bias", "w_side")}
    b_side, w_out = vectors(inputs["b_side"], hidden), vectors(inputs["w_out"], hidden * hidden)
    b_out = vectors(inputs["b_out"], edge)[0]
    sides = []
    for row in wide["msa"]:
        x = layer_norm(row, wide["norm_gain"][0], wide["norm_bias"][0])
        sides.append([linear(wide["w_side"][k * hidden:(k + 1) * hidden], x, b_side[k]) for k in range(2)])
    y = []
    for b in range(batch):
        starts = [(b * depth + s) * res for s in range(depth)]
        for i in range(res):
            for j in range(res):
                both = [(sides[p + i][0], sides[p + j][1]) for p in starts if inputs["mask"][p + i] and inputs["mask"][p + j]]
                m = [sum((u[e] * v[f] for u, v in both), golden.exact(0)) / max(1, len(both))
                     for e in range(hidden) for f in range(hidden)]
                y += [float(dot(row, m) + bias) for row, bias in zip(w_out, b_out)]
    return {"dims": {"batch": batch, "depth": depth, "res": res, "channels": channels, "hidden": hidden, "edge": edge},
            "scalars": {}, "inputs": inputs, "expected": {"y": y}}


golden.write("level2/25", [case(1, 1, 3, 4, 5, 2, 3), case(2, 1, 1, 1, 1, 1, 1, 1.0), case(3, 2, 5, 3, 4, 3, 2, 0.4),
                           case(4, 1, 2, 2, 7, 4, 5, 0.9, 4.0)])
