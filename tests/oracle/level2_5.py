"""Golden vectors of level2/5: every activation is pushed to the places that the filter reaches, in 50-digit decimals."""

import golden
from layers import dot
from turns import gelu


def case(seed, batch, channels, length, side, dilation, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    size, taps = channels * length, 2 * side + 1
    inputs = {"x": golden.normals(rng, batch * size, mean, std), "gain": golden.normals(rng, size, 1, 0.2),
              "shift": golden.normals(rng, size, 0, 0.2),
              "w": golden.normals(rng, channels * channels * taps, 0, (channels * taps) ** -0.5),
              "bias": golden.normals(rng, channels, 0, 0.2)}
    m = {name: [golden.exact(v) for v in data] for name, data in inputs.items()}
    y = []
    for b in range(batch):
        x = m["x"][b * size:(b + 1) * size]
        center = sum(x) / size
        deviation = (dot(x, x) / size - center * center + golden.exact("1e-5")).sqrt()
        out = [v + m["bias"][n // length] for n, v in enumerate(x)]
        for n, v in enumerate(x):
            a = gelu((v - center) / deviation * m["gain"][n] + m["shift"][n])
            c, t = divmod(n, length)
            for j in range(taps):
                to = t - (j - side) * dilation
                if 0 <= to < length:
                    for o in range(channels):
                        out[o * length + to] += a * m["w"][(o * channels + c) * taps + j]
        y += [float(v) for v in out]
    return {"dims": {"batch": batch, "channels": channels, "length": length, "side": side, "dilation": dilation}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level2/5", [case(1, 2, 3, 7, 1, 2), case(2, 1, 1, 1, 0, 1), case(3, 1, 2, 20, 3, 5, 3.0), case(4, 1, 4, 3, 1, 1, 0.0, 0.003)])
