"""Golden vectors of level3/4: no recurrence, but the whole sum over earlier times with the decay between, in decimals."""

import golden
from layers import dot, floats, linear, sigmoid, times, vectors


def silu(v):
    return times(v, sigmoid(v))


def case(seed, batch, length, channels, inner, state, low=-5.0, high=0.0, std=1.0):
    rng = golden.generator(seed)
    uniform = lambda count, a, b: [golden.f32(rng.uniform(a, b)) for _ in range(count)]
    weight = lambda rows, width, gain=1.0: golden.normals(rng, rows * width, 0, gain * width ** -0.5)
    inputs = {"x": golden.normals(rng, batch * length * channels, 0, std), "norm_gain": golden.normals(rng, channels, 1, 0.2),
              "w_in": weight(2 * inner, channels), "w_conv": weight(inner, 4, 1.5), "b_conv": golden.normals(rng, inner, 0, 0.3),
              "w_delta": weight(inner, inner), "b_delta": uniform(inner, low, high), "w_u": weight(state, inner, 1.5),
              "w_v": weight(state, inner, 1.5), "a_log": uniform(inner * state, -1.5, 2.5),
              "skip": golden.normals(rng, inner, 1, 0.3), "w_out": weight(channels, inner, 2.0)}
    widths = {"x": channels, "norm_gain": channels, "w_in": channels, "w_conv": 4, "b_conv": inner, "w_delta": inner,
              "b_delta": inner, "w_u": inner, "w_v": inner, "a_log": state, "skip": inner, "w_out": inner}
    m = {name: vectors(inputs[name], width) for name, width in widths.items()}
    rate = [[a.exp() for a in row] for row in m["a_log"]]
    y = []
    for b in range(batch):
        x = m["x"][b * length:(b + 1) * length]
        p, gates = [], []
        for row in x:
            size = (dot(row, row) / channels + golden.exact("1e-5")).sqrt()
            both = linear(m["w_in"], [v / size * g for v, g in zip(row, m["norm_gain"][0])])
            p.append(both[:inner])
            gates.append(silu(both[inner:]))
        a = [silu([m["b_conv"][0][d] + sum(m["w_conv"][d][3 - back] * p[t - back][d] for back in range(min(t, 3) + 1))
                   for d in range(inner)]) for t in range(length)]
        u, v = ([linear(m[name], row) for row in a] for name in ("w_u", "w_v"))
        delta = [[(1 + e.exp()).ln() for e in linear(m["w_delta"], row, m["b_delta"][0])] for row in a]
        for t in range(length):
            q = []
            for d in range(inner):
                total, elapsed = m["skip"][0][d] * a[t][d], golden.exact(0)         # sum of the steps after time e
                for e in range(t, -1, -1):
                    mixed = dot([(-elapsed * r).exp() for r in rate[d]], [f * g for f, g in zip(u[e], v[t])])
                    total += delta[e][d] * a[e][d] * mixed
                    elapsed += delta[e][d]
                q.append(total)
            y.append([f + g for f, g in zip(x[t], linear(m["w_out"], times(q, gates[t])))])
    return {"dims": {"batch": batch, "len": length, "channels": channels, "inner": inner, "state": state}, "scalars": {},
            "inputs": inputs, "expected": {"y": floats(y)}}


golden.write("level3/4", [case(1, 2, 7, 4, 5, 3), case(2, 1, 1, 1, 1, 1), case(3, 1, 12, 2, 3, 4, std=0.003),
                          case(4, 1, 5, 3, 2, 9, 1.0, 4.0)])
