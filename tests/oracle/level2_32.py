"""Golden vectors of level2/32: one column at a time, masked sequences left out of the lists, in 50-digit decimals."""

import golden
from layers import dot, floats, layer_norm, linear, sigmoid, softmax, times, vectors


def attend(queries, keys, values, heads, hd):
    """For each query, its heads one after the other, softmax means of the values."""
    out = []
    for query in queries:
        row = []
        for h in range(heads):
            part = slice(h * hd, (h + 1) * hd)
            weights = softmax([dot(query[part], key[part]) / golden.exact(hd).sqrt() for key in keys])
            row += [dot(weights, [value[d] for value in values]) for d in range(h * hd, (h + 1) * hd)]
        out.append(row)
    return out


def case(seed, batch, depth, res, heads, hd, keep=0.7, mean=0.0):
    rng = golden.generator(seed)
    channels = heads * hd
    draw = lambda count, m=0.0, s=1.0: golden.normals(rng, count, m, s)
    mask = [float(rng.random() < keep) for _ in range(batch * depth * res)]
    for b in range(batch):
        for r in range(res):
            mask[(b * depth + rng.randrange(depth)) * res + r] = 1.0
    inputs = {"msa": draw(batch * depth * res * channels, mean), "mask": mask,
              "norm_gain": draw(channels, 1, 0.2), "norm_bias": draw(channels, 0, 0.2),
              "w_qkv": draw(3 * channels * channels, 0, 1.2 * channels ** -0.5),
              "w_gate": draw(channels * channels, 0, channels ** -0.5), "b_gate": draw(channels, 0, 0.5),
              "w_out": draw(channels * channels, 0, channels ** -0.5), "b_out": draw(channels, 0, 0.2)}
    t = {name: vectors(data, channels) for name, data in inputs.items() if name != "mask"}
    x = [layer_norm(v, t["norm_gain"][0], t["norm_bias"][0]) for v in t["msa"]]
    q, k, v = ([linear(t["w_qkv"][m * channels:(m + 1) * channels], row) for row in x] for m in range(3))
    y = [None] * len(x)
    for b in range(batch):
        for r in range(res):
            column = [(b * depth + s) * res + r for s in range(depth)]
            kept = [p for p in column if mask[p] != 0]
            means = attend([q[p] for p in column], [k[p] for p in kept], [v[p] for p in kept], heads, hd)
            for p, o in zip(column, means):
                gate = sigmoid(linear(t["w_gate"], x[p], t["b_gate"][0]))
                y[p] = linear(t["w_out"], times(o, gate), t["b_out"][0])
    return {"dims": {"batch": batch, "depth": depth, "res": res, "heads": heads, "hd": hd}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level2/32", [case(1, 1, 4, 3, 2, 3), case(2, 2, 1, 2, 1, 2), case(3, 1, 7, 1, 3, 2, 0.3, 4.0), case(4, 1, 2, 1, 1, 1)])
