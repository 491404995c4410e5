"""Golden vectors of level2/30: no recurrence, but the whole sum over earlier times with the decay between, in decimals."""

import golden
from layers import dot, linear, vectors


def case(seed, batch, length, channels, state, low=-5.0, high=0.0):
    rng = golden.generator(seed)
    uniform = lambda count, a, b: [golden.f32(rng.uniform(a, b)) for _ in range(count)]
    weight = lambda rows: golden.normals(rng, rows * channels, 0, channels ** -0.5)
    inputs = {"x": golden.normals(rng, batch * length * channels), "w_delta": weight(channels),
              "b_delta": uniform(channels, low, high), "w_u": weight(state), "w_v": weight(state),
              "a_log": uniform(channels * state, -1.5, 2.5), "skip": golden.normals(rng, channels, 1, 0.3)}
    x = vectors(inputs["x"], channels)
    maps = {name: vectors(inputs[name], channels) for name in ("w_delta", "w_u", "w_v")}
    b_delta, skip = vectors(inputs["b_delta"], channels)[0], vectors(inputs["skip"], channels)[0]
    rate = [[a.exp() for a in row] for row in vectors(inputs["a_log"], state)]
    u, v = ([linear(maps[name], row) for row in x] for name in ("w_u", "w_v"))
    delta = [[(1 + a.exp()).ln() for a in linear(maps["w_delta"], row, b_delta)] for row in x]
    y = []
    for b in range(batch):
        for t in range(b * length, (b + 1) * length):
            for d in range(channels):
                total = skip[d] * x[t][d]
                elapsed = golden.exact(0)               # sum of the steps after time e
                for e in range(t, b * length - 1, -1):
                    mixed = dot([(-elapsed * r).exp() for r in rate[d]], [p * q for p, q in zip(u[e], v[t])])
                    total += delta[e][d] * x[e][d] * mixed
                    elapsed += delta[e][d]
                y.append(float(total))
    return {"dims": {"batch": batch, "len": length, "channels": channels, "state": state}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level2/30", [case(1, 2, 9, 5, 3), case(2, 1, 1, 1, 1), case(3, 1, 40, 2, 4), case(4, 1, 6, 3, 20, 1.0, 4.0)])
