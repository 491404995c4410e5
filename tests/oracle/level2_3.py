"""Golden vectors of level2/3: each query's weights as a list over the context, in 50-digit decimals."""

import golden
from layers import dot, floats, linear, softmax, vectors
from turns import turn


def turned(v, place, heads, inv_freq):
    """Every head of v turned by the angles of its place."""
    hd, pairs, out = len(v) // heads, len(inv_freq), []
    angles = [turn(golden.f32(place * f)) for f in inv_freq]
    for h in range(heads):
        part = v[h * hd:(h + 1) * hd]
        out += [part[i] * c - part[i + pairs] * s for i, (c, s) in enumerate(angles)]
        out += [part[i + pairs] * c + part[i] * s for i, (c, s) in enumerate(angles)]
    return out


def case(seed, batch, queries, keys, heads, pairs, base=10000.0):
    rng = golden.generator(seed)
    channels = 2 * pairs * heads
    weight = lambda count, gain: golden.normals(rng, count * channels * channels, 0, gain * channels ** -0.5)
    inputs = {"x": golden.normals(rng, batch * queries * channels), "context": golden.normals(rng, batch * keys * channels),
              "w_q": weight(1, 1.4), "w_kv": weight(2, 1.4), "w_out": weight(1, 1.0),
              "inv_freq": [golden.f32(base ** (-i / pairs)) for i in range(pairs)]}
    w = {name: vectors(inputs[name], channels) for name in ("w_q", "w_kv", "w_out")}
    q = [turned(linear(w["w_q"], v), row % queries, heads, inputs["inv_freq"]) for row, v in enumerate(vectors(inputs["x"], channels))]
    context = vectors(inputs["context"], channels)
    k = [turned(linear(w["w_kv"][:channels], v), row % keys, heads, inputs["inv_freq"]) for row, v in enumerate(context)]
    values = [linear(w["w_kv"][channels:], v) for v in context]
    y = []
    for row, query in enumerate(q):
        others = range(row // queries * keys, (row // queries + 1) * keys)
        o = []
        for h in range(heads):
            part = slice(h * 2 * pairs, (h + 1) * 2 * pairs)
            weights = softmax([dot(query[part], k[m][part]) / golden.exact(2 * pairs).sqrt() for m in others])
            o += [dot(weights, [values[m][d] for m in others]) for d in range(part.start, part.stop)]
        y.append(linear(w["w_out"], o))
    return {"dims": {"batch": batch, "queries": queries, "keys": keys, "heads": heads, "pairs": pairs}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level2/3", [case(1, 2, 3, 4, 2, 2), case(2, 1, 1, 1, 1, 1), case(3, 1, 5, 2, 1, 3, 3.0), case(4, 1, 2, 7, 3, 1)])
