"""Golden vectors of level2/43: the upper half of the map, mirrored, in 50-digit decimals."""

import golden
from layers import dot, layer_norm, linear, sigmoid, vectors


def relu(v):
    return [max(a, golden.exact(0)) for a in v]


def case(seed, batch, n, channels, hidden, mean=0.0, bias=0.0):
    rng = golden.generator(seed)
    draw = lambda count, m=0.0, s=1.0: golden.normals(rng, count, m, s)
    inputs = {"z": draw(batch * n * n * channels, mean), "norm_gain": draw(channels, 1, 0.2), "norm_bias": draw(channels, 0, 0.2),
              "w_in": draw(hidden * channels, 0, 2 * channels ** -0.5), "b_in": draw(hidden, 0, 0.3),
              "w_mid": draw(hidden * hidden, 0, 1.4 * hidden ** -0.5), "b_mid": draw(hidden, 0, 0.3),
              "w_out": draw(hidden, 0, 3 * hidden ** -0.5), "b_out": draw(1, bias, 0.5)}
    t = {name: vectors(data, channels if name in ("z", "norm_gain", "norm_bias", "w_in") else hidden) for name, data in inputs.items()}
    y = [0.0] * (batch * n * n)
    for b in range(batch):
        for i in range(n):
            for j in range(i, n):
                here, there = (b * n + i) * n + j, (b * n + j) * n + i
                u, v = (layer_norm(t["z"][at], t["norm_gain"][0], t["norm_bias"][0]) for at in (here, there))
                a = relu(linear(t["w_in"], [(p + q) / 2 for p, q in zip(u, v)], t["b_in"][0]))
                c = relu(linear(t["w_mid"], a, t["b_mid"][0]))
                y[here] = y[there] = float(sigmoid([dot(t["w_out"][0], c) + t["b_out"][0][0]])[0])
    return {"dims": {"batch": batch, "n": n, "channels": channels, "hidden": hidden}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level2/43", [case(1, 2, 4, 5, 6), case(2, 1, 1, 1, 1), case(3, 1, 6, 3, 9, 4.0, -4.0), case(4, 3, 2, 7, 2)])
