"""Golden vectors of level3/12: planar flows on vectors of 50-digit decimals."""

import golden


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), golden.exact(0))


def apply_map(z, w, u, b):
    c = dot(w, u)
    factor = ((1 + c.exp()).ln() - 1 - c) / dot(w, w)
    shift = [p + factor * q for p, q in zip(u, w)]
    grown, shrunk = (dot(w, z) + b).exp(), (-dot(w, z) - b).exp()
    t = (grown - shrunk) / (grown + shrunk)
    log = (abs(1 + (1 - t * t) * dot(w, shift)) + golden.exact("1e-8")).ln()
    return [p + q * t for p, q in zip(z, shift)], log


def case(seed, batch, dim, flows, std=1.0):
    rng = golden.generator(seed)
    z = golden.normals(rng, batch * dim, 0.0, std)
    w = golden.normals(rng, flows * dim, 0.0, dim ** -0.5)
    u = golden.normals(rng, flows * dim, 0.0, 0.5)
    bias = golden.normals(rng, flows, 0.0, 0.5)
    row = lambda data, i: [golden.exact(v) for v in data[i * dim:(i + 1) * dim]]
    z_out, log_det = [], []
    for s in range(batch):
        state, total = row(z, s), golden.exact(0)
        for f in range(flows):
            state, log = apply_map(state, row(w, f), row(u, f), golden.exact(bias[f]))
            total += log
        z_out += [float(v) for v in state]
        log_det.append(float(total))
    return {"dims": {"batch": batch, "dim": dim, "flows": flows}, "scalars": {},
            "inputs": {"z": z, "w": w, "u": u, "bias": bias}, "expected": {"z_out": z_out, "log_det": log_det}}


golden.write("level3/12", [case(1, 7, 5, 3), case(2, 1, 2, 1), case(3, 3, 8, 4, 3.0), case(4, 2, 1, 2)])
