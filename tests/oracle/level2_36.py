"""Golden vectors of level2/36: residue by residue, distances from points in the frame of the one that asks, in decimals."""

import golden
from layers import dot, floats, layer_norm, linear, softmax, vectors


def rotation(rng):
    """From a random unit quaternion, rounded to floats: the oracle and the program take the same nine numbers."""
    w, x, y, z = (rng.gauss(0, 1) for _ in range(4))
    s = 2 / (w * w + x * x + y * y + z * z)
    return [golden.f32(v) for v in (1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w),
                                    s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w),
                                    s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y))]


def points(flat):
    return [flat[i:i + 3] for i in range(0, len(flat), 3)]


def case(seed, batch, n, heads, hd, asked, told, edge):
    rng = golden.generator(seed)
    channels, places = heads * hd, batch * n
    draw = lambda count, std=1.0, mean=0.0: golden.normals(rng, count, mean, std)
    weight = lambda rows, width, gain=1.0: draw(rows * width, gain * width ** -0.5)
    inputs = {"node": draw(places * channels), "pair": draw(places * n * edge),
              "rot": [v for _ in range(places) for v in rotation(rng)], "trans": draw(places * 3),
              "norm_gain": draw(channels, 0.2, 1), "norm_bias": draw(channels, 0.2), "w_qkv": weight(3 * channels, channels),
              "w_qp": weight(3 * heads * asked, channels, 0.5), "w_kp": weight(3 * heads * asked, channels, 0.5),
              "w_vp": weight(3 * heads * told, channels), "w_pair": weight(heads, edge),
              "w_near": [golden.f32(rng.uniform(-3, -1)) for _ in range(heads)],
              "w_out": weight(channels, channels + 3 * heads * told), "b_out": draw(channels, 0.2)}
    widths = {"node": channels, "pair": edge, "rot": 9, "trans": 3, "norm_gain": channels, "norm_bias": channels,
              "w_qkv": channels, "w_qp": channels, "w_kp": channels, "w_vp": channels, "w_pair": edge, "w_near": heads,
              "w_out": channels + 3 * heads * told, "b_out": channels}
    t = {name: vectors(inputs[name], width) for name, width in widths.items()}

    def placed(local, place):
        r, s = t["rot"][place], t["trans"][place]
        return [[dot(r[3 * c:3 * c + 3], p) + s[c] for c in range(3)] for p in points(local)]

    x = [layer_norm(v, t["norm_gain"][0], t["norm_bias"][0]) for v in t["node"]]
    q, k, v = ([linear(t["w_qkv"][j * channels:(j + 1) * channels], row) for row in x] for j in range(3))
    a, e, g = ([placed(linear(t[name], row), i) for i, row in enumerate(x)] for name in ("w_qp", "w_kp", "w_vp"))
    y = []
    for i in range(places):
        others = range(i // n * n, i // n * n + n)
        o, back = [], []
        for h in range(heads):
            part, own = slice(h * hd, (h + 1) * hd), range(h * asked, (h + 1) * asked)
            near = (1 + t["w_near"][0][h].exp()).ln() / 2
            logits = []
            for j in others:
                far = sum((p - r) ** 2 for m in own for p, r in zip(a[i][m], e[j][m]))
                bias = dot(t["w_pair"][h], t["pair"][i * n + j % n])
                logits.append(dot(q[i][part], k[j][part]) / golden.exact(hd).sqrt() + bias - near * far)
            weights = softmax(logits)
            o += [dot(weights, [v[j][d] for j in others]) for d in range(part.start, part.stop)]
            for p in range(h * told, (h + 1) * told):
                moved = [dot(weights, [g[j][p][c] - t["trans"][i][c] for j in others]) for c in range(3)]
                back += [sum(t["rot"][i][3 * r + c] * moved[r] for r in range(3)) for c in range(3)]
        y.append(linear(t["w_out"], o + back, t["b_out"][0]))
    return {"dims": {"batch": batch, "n": n, "heads": heads, "hd": hd, "asked": asked, "told": told, "edge": edge},
            "scalars": {}, "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level2/36", [case(1, 2, 4, 2, 3, 2, 1, 3), case(2, 1, 1, 1, 1, 1, 1, 1), case(3, 1, 5, 1, 4, 1, 3, 2),
                           case(4, 2, 2, 3, 2, 2, 2, 5)])
