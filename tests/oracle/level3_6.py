"""Golden vectors of level3/6: the convolution as the sum that defines it, in 50-digit decimals; no transform."""

import golden
from layers import floats, linear, sigmoid, times, vectors


def case(seed, batch, length, channels, hidden):
    rng = golden.generator(seed)
    draw = lambda count, std=1.0, mean=0.0: golden.normals(rng, count, mean, std)
    inputs = {"x": draw(batch * length * channels), "w_in": draw(3 * channels * channels, channels ** -0.5),
              "b_in": draw(3 * channels, 0.2), "w_gate": draw(2 * channels * 3, 3 ** -0.5), "b_gate": draw(2 * channels, 0.3, 0.5),
              "w_1": draw(hidden, 20.0), "b_1": [golden.f32(rng.uniform(-10, 10)) for _ in range(hidden)],
              "w_2": draw(channels * hidden, 0.05 * hidden ** -0.5), "b_2": draw(channels, 0.02),
              "w_out": draw(channels * channels, channels ** -0.5), "b_out": draw(channels, 0.2)}
    widths = {"x": channels, "w_in": channels, "b_in": channels, "w_gate": 3, "b_gate": channels, "w_1": hidden, "b_1": hidden,
              "w_2": hidden, "b_2": channels, "w_out": channels, "b_out": channels}
    m = {name: vectors(inputs[name], width) for name, width in widths.items()}
    taps = []
    for t in range(length):
        place = golden.exact(t) / max(length - 1, 1)
        layer = [w * place + b for w, b in zip(m["w_1"][0], m["b_1"][0])]
        taps.append(linear(m["w_2"], times(layer, sigmoid(layer)), m["b_2"][0]))
    zero = [golden.exact(0)] * channels
    y = []
    for b in range(batch):
        x = m["x"][b * length:(b + 1) * length]
        v, q, k = ([linear(m["w_in"][j * channels:(j + 1) * channels], row, m["b_in"][j]) for row in x] for j in range(3))
        gates = []
        for i, s in enumerate((q, k)):
            line = [zero] + s + [zero]
            gates.append([[m["b_gate"][i][c] + sum(m["w_gate"][i * channels + c][j] * line[t + j][c] for j in range(3))
                           for c in range(channels)] for t in range(length)])
        for t in range(length):
            f = [sum(taps[s][c] * v[t - s][c] for s in range(t + 1)) for c in range(channels)]
            y.append(linear(m["w_out"], times(times(f, gates[0][t]), gates[1][t]), m["b_out"][0]))
    return {"dims": {"batch": batch, "length": length, "channels": channels, "hidden": hidden}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level3/6", [case(1, 2, 6, 4, 5), case(2, 1, 1, 1, 1), case(3, 3, 17, 2, 3), case(4, 1, 2, 3, 2)])
