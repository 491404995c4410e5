"""Golden vectors of level3/5: one sample after the other in 50-digit decimals."""

import golden
from layers import linear, sigmoid, times, vectors


def case(seed, batch, dim, hidden, steps):
    rng = golden.generator(seed)
    draw = lambda count, std=1.0: golden.normals(rng, count, 0, std)
    inputs = {"x": draw(batch * dim), "w_in": draw(hidden * (dim + 1), 1.5 * (dim + 1) ** -0.5), "b_in": draw(hidden, 0.5),
              "w_mid": draw(hidden * hidden, 1.7 * hidden ** -0.5), "b_mid": draw(hidden, 0.3),
              "w_out": draw(dim * hidden, 1.5 * hidden ** -0.5), "b_out": draw(dim, 0.3)}
    w_in, w_mid, w_out = vectors(inputs["w_in"], dim + 1), vectors(inputs["w_mid"], hidden), vectors(inputs["w_out"], hidden)
    b_in, b_mid, b_out = (vectors(inputs[name], len(inputs[name]))[0] for name in ("b_in", "b_mid", "b_out"))
    silu = lambda v: times(v, sigmoid(v))
    y = []
    for z in vectors(inputs["x"], dim):
        for k in range(steps):
            time = golden.exact(2 * k + 1) / (2 * steps)
            a = silu(linear(w_in, z + [time], b_in))
            velocity = linear(w_out, silu(linear(w_mid, a, b_mid)), b_out)
            z = [p + q / steps for p, q in zip(z, velocity)]
        y += [float(p) for p in z]
    return {"dims": {"batch": batch, "dim": dim, "hidden": hidden, "steps": steps}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level3/5", [case(1, 3, 4, 5, 4), case(2, 1, 1, 1, 1), case(3, 2, 3, 8, 7), case(4, 1, 6, 2, 3)])
