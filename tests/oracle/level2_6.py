"""Golden vectors of level2/6: the edges of one residue as lists without the masked ones, in 50-digit decimals."""

import golden
from layers import dot, floats, layer_norm, linear, sigmoid, softmax, times, vectors


def case(seed, batch, n, heads, hd, keep=0.7, mean=0.0):
    rng = golden.generator(seed)
    channels = heads * hd
    draw = lambda count, m=0.0, s=1.0: golden.normals(rng, count, m, s)
    mask = [float(rng.random() < keep) for _ in range(batch * n * n)]
    for start in range(0, batch * n * n, n):
        mask[start + rng.randrange(n)] = 1.0
    inputs = {"z": draw(batch * n * n * channels, mean), "mask": mask,
              "norm_gain": draw(channels, 1, 0.2), "norm_bias": draw(channels, 0, 0.2),
              "w_qkv": draw(3 * channels * channels, 0, 1.2 * channels ** -0.5),
              "w_bias": draw(heads * channels, 0, channels ** -0.5),
              "w_gate": draw(channels * channels, 0, channels ** -0.5), "b_gate": draw(channels, 0, 0.5),
              "w_out": draw(channels * channels, 0, channels ** -0.5), "b_out": draw(channels, 0, 0.2)}
    t = {name: vectors(data, channels) for name, data in inputs.items() if name != "mask"}
    x = {(p // (n * n), p // n % n, p % n): layer_norm(v, t["norm_gain"][0], t["norm_bias"][0]) for p, v in enumerate(t["z"])}
    q, k, v = ({at: linear(t["w_qkv"][m * channels:(m + 1) * channels], row) for at, row in x.items()} for m in range(3))
    third = {at: linear(t["w_bias"], row) for at, row in x.items()}
    y = []
    for b, i, j in x:                                   # in the order of the tensor
        ends = [m for m in range(n) if mask[(b * n + i) * n + m] != 0]
        o = []
        for h in range(heads):
            part = slice(h * hd, (h + 1) * hd)
            logits = [dot(q[b, i, j][part], k[b, i, m][part]) / golden.exact(hd).sqrt() + third[b, j, m][h] for m in ends]
            weights = softmax(logits)
            o += [dot(weights, [v[b, i, m][d] for m in ends]) for d in range(h * hd, (h + 1) * hd)]
        y.append(linear(t["w_out"], times(o, sigmoid(linear(t["w_gate"], x[b, i, j], t["b_gate"][0]))), t["b_out"][0]))
    return {"dims": {"batch": batch, "n": n, "heads": heads, "hd": hd}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level2/6", [case(1, 1, 4, 2, 3), case(2, 2, 2, 1, 2), case(3, 1, 3, 3, 2, 0.3, 4.0), case(4, 1, 1, 1, 1)])
