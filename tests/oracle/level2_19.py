"""Golden vectors of level2/19: time by time, the filter as a sum over the times that it sees, in 50-digit decimals."""

import golden
from layers import dot, linear, vectors
from turns import gelu


def case(seed, batch, channels, hidden, length, side, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    taps = 2 * side + 1
    draw = lambda count, s=1.0, m=0.0: golden.normals(rng, count, m, s)
    inputs = {"x": draw(batch * channels * length, std, mean), "w_in": draw(hidden * channels, channels ** -0.5),
              "b_in": draw(hidden, 0.5), "w_depth": draw(hidden * taps, taps ** -0.5), "b_depth": draw(hidden, 0.3),
              "w_out": draw(channels * hidden, hidden ** -0.5), "b_out": draw(channels, 0.2)}
    widths = {"x": length, "w_in": channels, "b_in": hidden, "w_depth": taps, "b_depth": hidden, "w_out": hidden, "b_out": channels}
    m = {name: vectors(inputs[name], width) for name, width in widths.items()}
    y = [0.0] * len(inputs["x"])
    for b in range(batch):
        x = list(zip(*m["x"][b * channels:(b + 1) * channels]))              # a vector of channels for each time
        u = [linear(m["w_in"], v, m["b_in"][0]) for v in x]
        for t in range(length):
            seen = [s for s in range(length) if abs(s - t) <= side]
            v = [m["b_depth"][0][h] + dot([u[s][h] for s in seen], [m["w_depth"][h][s - t + side] for s in seen]) for h in range(hidden)]
            for c, change in enumerate(linear(m["w_out"], [gelu(a) for a in v], m["b_out"][0])):
                y[(b * channels + c) * length + t] = float(x[t][c] + change)
    return {"dims": {"batch": batch, "channels": channels, "hidden": hidden, "length": length, "side": side}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level2/19", [case(1, 2, 3, 4, 7, 1), case(2, 1, 1, 1, 1, 0), case(3, 1, 2, 5, 3, 5), case(4, 1, 4, 2, 9, 2, 2.0)])
