"""Golden vectors of level2/4: object by object over the list of those that it is related to, in 50-digit decimals."""

import golden
from layers import dot, floats, layer_norm, linear, sigmoid, softmax, times, vectors


def case(seed, batch, n, heads, hd, edge, keep=0.6, mean=0.0):
    rng = golden.generator(seed)
    channels, places = heads * hd, batch * n
    draw = lambda count, std=1.0, m=0.0: golden.normals(rng, count, m, std)
    weight = lambda rows, width, gain=1.0: draw(rows * width, gain * width ** -0.5)
    inputs = {"nodes": draw(places * channels, 1.0, mean), "pair": draw(places * n * edge),
              "mask": [float(rng.random() < keep) for _ in range(places * n)], "norm_gain": draw(channels, 0.2, 1),
              "norm_bias": draw(channels, 0.2), "w_qkv": weight(3 * channels, channels, 1.4), "w_rel": weight(edge, edge, 1.5),
              "b_rel": draw(edge, 0.5), "w_bias": weight(heads, edge, 2.0), "w_out": weight(channels, channels)}
    widths = {name: edge if name in ("pair", "w_rel", "b_rel", "w_bias") else channels for name in inputs if name != "mask"}
    m = {name: vectors(inputs[name], width) for name, width in widths.items()}
    x = [layer_norm(v, m["norm_gain"][0], m["norm_bias"][0]) for v in m["nodes"]]
    q, k, v = ([linear(m["w_qkv"][s * channels:(s + 1) * channels], row) for row in x] for s in range(3))
    y = []
    for i, node in enumerate(m["nodes"]):
        related = [j for j in range(n) if inputs["mask"][i * n + j]]
        others = [i // n * n + j for j in related]
        hidden = [linear(m["w_rel"], m["pair"][i * n + j], m["b_rel"][0]) for j in related]
        biases = [linear(m["w_bias"], times(t, sigmoid(t))) for t in hidden]
        o = []
        for h in range(heads):
            part = slice(h * hd, (h + 1) * hd)
            root = golden.exact(hd).sqrt()
            weights = softmax([dot(q[i][part], k[j][part]) / root + bias[h] for j, bias in zip(others, biases)])
            o += [dot(weights, [v[j][d] for j in others]) for d in range(part.start, part.stop)]
        y.append([a + b for a, b in zip(node, linear(m["w_out"], o))])
    return {"dims": {"batch": batch, "n": n, "heads": heads, "hd": hd, "edge": edge}, "scalars": {}, "inputs": inputs,
            "expected": {"y": floats(y)}}


golden.write("level2/4", [case(1, 2, 4, 2, 3, 3), case(2, 1, 1, 1, 1, 1, 1.0), case(3, 1, 5, 1, 4, 2, 0.25),
                          case(4, 2, 2, 3, 2, 5, 0.5, 4.0)])
