"""Golden vectors of level2/24: no memory, but what every earlier time left, channels with their own decays, in decimals."""

import golden
from layers import dot, vectors


def unit(v):
    length = (dot(v, v) + golden.exact("1e-6")).sqrt()
    return [a / length for a in v]


def case(seed, batch, length, heads, kd, vd, low=-0.4, high=0.0):
    rng = golden.generator(seed)
    rows = batch * length * heads
    uniform = lambda count, a, b: [golden.f32(rng.uniform(a, b)) for _ in range(count)]
    inputs = {"q": golden.normals(rng, rows * kd), "k": golden.normals(rng, rows * kd), "v": golden.normals(rng, rows * vd),
              "decay": uniform(rows * kd, low, high), "beta": uniform(rows, 0, 1)}
    q, k = ([unit(v) for v in vectors(inputs[name], kd)] for name in ("q", "k"))
    v, beta = vectors(inputs["v"], vd), vectors(inputs["beta"], 1)
    fade = [[a.exp() for a in row] for row in vectors(inputs["decay"], kd)]
    y, left = [], {}
    for at in range(rows):
        t = at // heads % length
        kept, mixed, answers = [golden.exact(1)] * kd, [golden.exact(0)] * vd, [golden.exact(0)] * vd
        for past in range(at - heads, at - (t + 1) * heads, -heads):                # the same head, ever earlier
            kept = [a * b for a, b in zip(kept, fade[past + heads])]
            for who, total in ((k[at], answers), (q[at], mixed)):
                share = sum(a * b * c for a, b, c in zip(who, kept, k[past]))
                for e in range(vd):
                    total[e] += share * left[past][e]
        left[at] = [beta[at][0] * (a - b) for a, b in zip(v[at], answers)]
        y += [float(m + dot(q[at], k[at]) * u) for m, u in zip(mixed, left[at])]
    return {"dims": {"batch": batch, "len": length, "heads": heads, "kd": kd, "vd": vd}, "scalars": {}, "inputs": inputs,
            "expected": {"y": y}}


golden.write("level2/24", [case(1, 2, 6, 2, 4, 3), case(2, 1, 1, 1, 4, 1), case(3, 1, 25, 1, 5, 2, -0.01, 0.0),
                           case(4, 1, 5, 3, 7, 4, -9.0, -1.0)])
