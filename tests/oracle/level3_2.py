"""Golden vectors of level3/2: one sample after the other in 50-digit decimals."""

import golden
from layers import linear, sigmoid, times as multiply, vectors


def case(seed, batch, dim, hidden, times, steps, latest=None):
    rng = golden.generator(seed)
    draw = lambda count, std=1.0: golden.normals(rng, count, 0, std)
    inputs = {"x": draw(batch * dim), "start": [rng.randrange(latest or times) for _ in range(batch)],
              "beta": [golden.f32(rng.uniform(0.001, 0.2)) for _ in range(times)],
              "sigma": [golden.f32(rng.uniform(0.2, 1)) for _ in range(times)],
              "w_in": draw(hidden * (dim + 1), 1.5 * (dim + 1) ** -0.5), "b_in": draw(hidden, 0.5),
              "w_mid": draw(hidden * hidden, 1.7 * hidden ** -0.5), "b_mid": draw(hidden, 0.3),
              "w_out": draw(dim * hidden, 1.5 * hidden ** -0.5), "b_out": draw(dim, 0.3)}
    w_in, w_mid, w_out = vectors(inputs["w_in"], dim + 1), vectors(inputs["w_mid"], hidden), vectors(inputs["w_out"], hidden)
    b_in, b_mid, b_out = (vectors(inputs[name], len(inputs[name]))[0] for name in ("b_in", "b_mid", "b_out"))
    beta, sigma = ([golden.exact(v) for v in inputs[name]] for name in ("beta", "sigma"))
    silu = lambda v: multiply(v, sigmoid(v))
    y = []
    for z, first in zip(vectors(inputs["x"], dim), inputs["start"]):
        for t in [max(t, 0) for t in range(first, first - steps, -1)]:
            a = silu(linear(w_in, z + [golden.exact(t) / times], b_in))
            eps = linear(w_out, silu(linear(w_mid, a, b_mid)), b_out)
            z = [(p - beta[t] * e / sigma[t]) / (1 - beta[t]).sqrt() for p, e in zip(z, eps)]
        y += [float(p) for p in z]
    return {"dims": {"batch": batch, "dim": dim, "hidden": hidden, "times": times, "steps": steps}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level3/2", [case(1, 4, 4, 5, 20, 4), case(2, 1, 1, 1, 1, 1), case(3, 3, 3, 8, 40, 7, 4), case(4, 2, 6, 2, 30, 3)])
