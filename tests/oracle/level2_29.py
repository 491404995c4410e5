"""Golden vectors of level2/29: one sequence at a time, masked residues left out of the lists, in 50-digit decimals."""

import golden
from layers import dot, floats, layer_norm, linear, sigmoid, softmax, times, vectors


def case(seed, batch, depth, res, heads, hd, edge, keep=0.7, mean=0.0):
    rng = golden.generator(seed)
    channels = heads * hd
    draw = lambda count, m=0.0, s=1.0: golden.normals(rng, count, m, s)
    mask = [float(rng.random() < keep) for _ in range(batch * depth * res)]
    for start in range(0, batch * depth * res, res):
        mask[start + rng.randrange(res)] = 1.0
    inputs = {"msa": draw(batch * depth * res * channels, mean), "pair": draw(batch * res * res * edge), "mask": mask,
              "norm_gain": draw(channels, 1, 0.2), "norm_bias": draw(channels, 0, 0.2),
              "w_qkv": draw(3 * channels * channels, 0, 1.2 * channels ** -0.5),
              "w_bias": draw(heads * edge, 0, edge ** -0.5),
              "w_gate": draw(channels * channels, 0, channels ** -0.5), "b_gate": draw(channels, 0, 0.5),
              "w_out": draw(channels * channels, 0, channels ** -0.5), "b_out": draw(channels, 0, 0.2)}
    t = {name: vectors(data, edge if name in ("pair", "w_bias") else channels) for name, data in inputs.items() if name != "mask"}
    y = []
    for b in range(batch):
        bias = {(r, m): linear(t["w_bias"], t["pair"][(b * res + r) * res + m]) for r in range(res) for m in range(res)}
        for s in range(b * depth, (b + 1) * depth):
            x = [layer_norm(v, t["norm_gain"][0], t["norm_bias"][0]) for v in t["msa"][s * res:(s + 1) * res]]
            q, k, v = ([linear(t["w_qkv"][m * channels:(m + 1) * channels], row) for row in x] for m in range(3))
            kept = [m for m in range(res) if mask[s * res + m] != 0]
            for r in range(res):
                o = []
                for h in range(heads):
                    part = slice(h * hd, (h + 1) * hd)
                    weights = softmax([dot(q[r][part], k[m][part]) / golden.exact(hd).sqrt() + bias[r, m][h] for m in kept])
                    o += [dot(weights, [v[m][d] for m in kept]) for d in range(h * hd, (h + 1) * hd)]
                y.append(linear(t["w_out"], times(o, sigmoid(linear(t["w_gate"], x[r], t["b_gate"][0]))), t["b_out"][0]))
    return {"dims": {"batch": batch, "depth": depth, "res": res, "heads": heads, "hd": hd, "edge": edge}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level2/29", [case(1, 1, 3, 4, 2, 3, 2), case(2, 2, 2, 1, 1, 4, 3), case(3, 1, 1, 7, 3, 2, 1, 0.3, 1.0),
                           case(4, 2, 1, 2, 1, 1, 1)])
