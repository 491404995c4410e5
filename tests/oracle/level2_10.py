"""Golden vectors of level2/10: the network on one joined vector for each pair, its largest values by sorting, in decimals."""

import golden
from layers import floats, layer_norm, linear, sigmoid, times, vectors


def case(seed, batch, n, channels, edge, hidden, keep=0.6, lift=0.0):
    rng = golden.generator(seed)
    places = batch * n
    draw = lambda count, std=1.0, mean=0.0: golden.normals(rng, count, mean, std)
    inputs = {"nodes": draw(places * channels), "pair": draw(places * n * edge),
              "mask": [float(rng.random() < keep) for _ in range(places * n)], "w_own": draw(hidden * channels, channels ** -0.5),
              "w_other": draw(hidden * channels, channels ** -0.5), "w_edge": draw(hidden * edge, edge ** -0.5),
              "b_in": draw(hidden, 0.5), "w_out": draw(channels * hidden, 2 * hidden ** -0.5), "b_out": draw(channels, 0.5, lift),
              "norm_gain": draw(channels, 0.2, 1), "norm_bias": draw(channels, 0.2)}
    widths = {name: channels for name in ("nodes", "w_own", "w_other", "b_out", "norm_gain", "norm_bias")}
    widths |= {"pair": edge, "w_edge": edge, "b_in": hidden, "w_out": hidden}
    m = {name: vectors(inputs[name], width) for name, width in widths.items()}
    first = [a + b + c for a, b, c in zip(m["w_own"], m["w_other"], m["w_edge"])]       # rows over both objects and the pair
    y = []
    for i, node in enumerate(m["nodes"]):
        messages = []
        for j in range(n):
            if inputs["mask"][i * n + j]:
                t = linear(first, node + m["nodes"][i // n * n + j] + m["pair"][i * n + j], m["b_in"][0])
                messages.append(linear(m["w_out"], times(t, sigmoid(t)), m["b_out"][0]))
        update = [0] * channels
        if messages:
            update = layer_norm([sorted(column)[-1] for column in zip(*messages)], m["norm_gain"][0], m["norm_bias"][0])
        y.append([a + b for a, b in zip(node, update)])
    return {"dims": {"batch": batch, "n": n, "channels": channels, "edge": edge, "hidden": hidden}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level2/10", [case(1, 2, 4, 8, 3, 6), case(2, 1, 1, 8, 1, 1, 1.0), case(3, 1, 6, 9, 2, 4, 0.2, -15.0),
                           case(4, 1, 3, 11, 5, 2, 0.5)])
