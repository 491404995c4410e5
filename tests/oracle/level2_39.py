"""Golden vectors of level2/39: each input sent to the places it reaches, in 50-digit decimals."""

import golden


def case(seed, batch, channels, outputs, length, reach, dilation, mean=0.0):
    rng = golden.generator(seed)
    taps = 2 * reach + 1
    inputs = {"x": golden.normals(rng, batch * channels * length, mean),
              "w_depth": golden.normals(rng, channels * taps, 0, 1.5 * taps ** -0.5), "b_depth": golden.normals(rng, channels, 0, 0.3),
              "w_point": golden.normals(rng, outputs * channels, 0, 1.5 * channels ** -0.5),
              "b_point": golden.normals(rng, outputs, 0, 0.3)}
    t = {name: [golden.exact(v) for v in data] for name, data in inputs.items()}
    y = [t["b_point"][i // length % outputs] for i in range(batch * outputs * length)]
    for b in range(batch):
        for c in range(channels):
            row = [t["b_depth"][c]] * length
            for at in range(length):
                for j in range(taps):
                    to = at - (j - reach) * dilation
                    if 0 <= to < length:
                        row[to] += t["w_depth"][c * taps + j] * t["x"][(b * channels + c) * length + at]
            for at, v in enumerate(row):
                for o in range(outputs):
                    y[(b * outputs + o) * length + at] += t["w_point"][o * channels + c] * v * v.exp() / (1 + v.exp())
    return {"dims": {"batch": batch, "channels": channels, "outputs": outputs, "length": length, "reach": reach, "dilation": dilation},
            "scalars": {}, "inputs": inputs, "expected": {"y": [float(v) for v in y]}}


golden.write("level2/39", [case(1, 2, 3, 4, 9, 2, 2), case(2, 1, 1, 1, 1, 0, 1), case(3, 1, 2, 3, 7, 1, 5), case(4, 3, 4, 1, 5, 3, 4, -2.0)])
