"""Golden vectors of level2/14: every edge is filed under its end first, so that the triangle sums over the first index."""

import golden
from layers import dot, floats, layer_norm, linear, sigmoid, times, vectors


def case(seed, batch, n, channels, hidden, keep=0.8, mean=0.0):
    rng = golden.generator(seed)
    draw = lambda count, m=0.0, s=1.0: golden.normals(rng, count, m, s)
    inputs = {
        "z": draw(batch * n * n * channels, mean), "mask": [float(rng.random() < keep) for _ in range(batch * n * n)],
        "norm_in_gain": draw(channels, 1, 0.2), "norm_in_bias": draw(channels, 0, 0.2),
        "w_in": draw(4 * hidden * channels, 0, channels ** -0.5), "b_in": draw(4 * hidden, 0.3, 0.3),
        "norm_out_gain": draw(hidden, 1, 0.2), "norm_out_bias": draw(hidden, 0, 0.2),
        "w_out": draw(channels * hidden, 0, hidden ** -0.5), "b_out": draw(channels, 0, 0.2),
        "w_gate": draw(channels * channels, 0, channels ** -0.5), "b_gate": draw(channels, 0, 0.5)}
    wide = {name: vectors(inputs[name], channels)
            for name in ("z", "norm_in_gain", "norm_in_bias", "w_in", "b_out", "w_gate", "b_gate")}
    thin = {name: vectors(inputs[name], hidden) for name in ("b_in", "norm_out_gain", "norm_out_bias", "w_out")}
    a, g = {}, {}
    for p, z in enumerate(wide["z"]):
        x = layer_norm(z, wide["norm_in_gain"][0], wide["norm_in_bias"][0])
        part = [linear(wide["w_in"][m * hidden:(m + 1) * hidden], x, thin["b_in"][m]) for m in range(4)]
        kept = golden.exact(inputs["mask"][p])
        place = (p // (n * n), p % n, p // n % n)          # (batch, end, start)
        a[place] = [kept * v for v in times(part[0], sigmoid(part[1]))]
        g[place] = [kept * v for v in times(part[2], sigmoid(part[3]))]
    y = []
    for p, z in enumerate(wide["z"]):
        b, i, j = p // (n * n), p // n % n, p % n
        t = [dot([a[b, k, i][h] for k in range(n)], [g[b, k, j][h] for k in range(n)]) for h in range(hidden)]
        update = linear(thin["w_out"], layer_norm(t, thin["norm_out_gain"][0], thin["norm_out_bias"][0]), wide["b_out"][0])
        y.append(times(update, sigmoid(linear(wide["w_gate"], z, wide["b_gate"][0]))))
    return {"dims": {"batch": batch, "n": n, "channels": channels, "hidden": hidden}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level2/14", [case(5, 1, 4, 5, 3), case(6, 2, 2, 3, 4), case(7, 1, 1, 1, 1, 1.0), case(8, 1, 3, 8, 6, 0.4, 4.0)])
