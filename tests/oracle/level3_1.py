"""Golden vectors of level3/1: every activation is pushed to the places that its filters reach, in 50-digit decimals."""

import golden
from layers import dot
from turns import gelu


def case(seed, batch, channels, length, blocks, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    size = channels * length
    inputs = {"x": golden.normals(rng, batch * size, mean, std), "gain": golden.normals(rng, blocks * size, 1, 0.2),
              "shift": golden.normals(rng, blocks * size, 0, 0.2),
              "w": golden.normals(rng, blocks * channels * channels * 3, 0, 1.5 * (3 * channels) ** -0.5),
              "bias": golden.normals(rng, blocks * channels, 0, 0.2)}
    t = {name: [golden.exact(v) for v in data] for name, data in inputs.items()}
    y = []
    for b in range(batch):
        x = t["x"][b * size:(b + 1) * size]
        h = list(x)
        for i in range(blocks):
            mean_h = sum(h) / size
            deviation = (dot(h, h) / size - mean_h * mean_h + golden.exact("1e-5")).sqrt()
            a = [gelu((v - mean_h) / deviation * g + s) for v, g, s in
                 zip(h, t["gain"][i * size:], t["shift"][i * size:])]
            h = [v + t["bias"][i * channels + n // length] for n, v in enumerate(x)]
            for n, v in enumerate(a):
                c, time = divmod(n, length)
                for o in range(channels):
                    for j in range(3):
                        to = time - (j - 1) * 2 ** i
                        if 0 <= to < length:
                            h[o * length + to] += v * t["w"][((i * channels + o) * channels + c) * 3 + j]
        y += [float(v) for v in h]
    return {"dims": {"batch": batch, "channels": channels, "length": length, "blocks": blocks}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level3/1", [case(1, 2, 3, 7, 3), case(2, 1, 1, 1, 1), case(3, 1, 2, 20, 5, 3.0), case(4, 1, 4, 2, 2, 0.0, 0.01)])
