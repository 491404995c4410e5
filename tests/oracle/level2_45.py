"""Golden vectors of level2/45: lists of the places of one row, then of one column, in 50-digit decimals."""

import golden
from layers import dot, floats, layer_norm, linear, softmax, vectors


def layer(lines, t, s, heads, hd):
    """lines: lists of vectors that attend to each other. Returns what is added to them."""
    channels = heads * hd
    part = lambda m: t["w_qkv"][(3 * s + m) * channels:(3 * s + m + 1) * channels]
    for line in lines:
        x = [layer_norm(v, t["norm_gain"][s], t["norm_bias"][s]) for v in line]
        q, k, v = ([linear(part(m), u) for u in x] for m in range(3))
        out = []
        for own in q:
            o = []
            for h in range(heads):
                cut = slice(h * hd, (h + 1) * hd)
                weights = softmax([dot(own[cut], other[cut]) / golden.exact(hd).sqrt() for other in k])
                o += [dot(weights, [u[d] for u in v]) for d in range(h * hd, (h + 1) * hd)]
            out.append(linear(t["w_out"][s * channels:(s + 1) * channels], o, t["b_out"][s]))
        yield out


def case(seed, batch, height, width, heads, hd, mean=0.0):
    rng = golden.generator(seed)
    channels = heads * hd
    draw = lambda count, m=0.0, s=1.0: golden.normals(rng, count, m, s)
    inputs = {"x": draw(batch * height * width * channels, mean), "norm_gain": draw(2 * channels, 1, 0.2),
              "norm_bias": draw(2 * channels, 0, 0.2), "w_qkv": draw(6 * channels * channels, 0, 1.2 * channels ** -0.5),
              "w_out": draw(2 * channels * channels, 0, 2 * channels ** -0.5), "b_out": draw(2 * channels, 0, 0.2)}
    t = {name: vectors(data, channels) for name, data in inputs.items()}
    h = dict(enumerate(t["x"]))
    rows = [[(b * height + i) * width + j for j in range(width)] for b in range(batch) for i in range(height)]
    columns = [[(b * height + i) * width + j for i in range(height)] for b in range(batch) for j in range(width)]
    for s, lines in enumerate((rows, columns)):
        for line, change in zip(lines, list(layer([[h[at] for at in line] for line in lines], t, s, heads, hd))):
            for at, v in zip(line, change):
                h[at] = [a + b for a, b in zip(h[at], v)]
    return {"dims": {"batch": batch, "height": height, "width": width, "heads": heads, "hd": hd}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(h[at] for at in sorted(h))}}


golden.write("level2/45", [case(1, 2, 3, 4, 2, 3), case(2, 1, 1, 1, 1, 1), case(3, 1, 5, 2, 1, 4, 4.0), case(4, 1, 1, 6, 3, 1)])
