"""Golden vectors of level2/16: drifts from places to places (Verlet without momenta in between), in 50-digit decimals."""

import golden
from layers import vectors


def uniform(rng):
    return rng.random()


def case(seed, chains, dim, steps, step_size, nu, u_of=uniform, q_std=1.0, p_std=1.0):
    rng = golden.generator(seed)
    step_size, nu = golden.f32(step_size), golden.f32(nu)
    inputs = {"q": golden.normals(rng, chains * dim, 0, q_std), "momentum": golden.normals(rng, chains * dim, 0, p_std),
              "u": [golden.f32(u_of(rng)) for _ in range(chains)], "center": golden.normals(rng, dim, 0, 0.5),
              "width": [golden.f32(rng.uniform(0.7, 1.5)) for _ in range(dim)]}
    m = {name: vectors(inputs[name], dim) for name in ("q", "momentum", "center", "width")}
    h, nu_exact, u = golden.exact(step_size), golden.exact(nu), [golden.exact(v) for v in inputs["u"]]
    center, width = m["center"][0], m["width"][0]
    pull = lambda q, d: -(nu_exact + 1) * (q - center[d]) / (width[d] ** 2 * nu_exact + (q - center[d]) ** 2)
    q_next, accepted = [], []
    for c in range(chains):
        gain, end = golden.exact(0), []
        for d in range(dim):
            start, push = m["q"][c][d], m["momentum"][c][d]
            places = [start, start + h * push + h * h / 2 * pull(start, d)]
            while len(places) <= steps:
                places.append(2 * places[-1] - places[-2] + h * h * pull(places[-1], d))
            last = (places[-1] - places[-2]) / h + h / 2 * pull(places[-1], d)
            side = lambda q: nu_exact * width[d] ** 2 + (q - center[d]) ** 2
            gain += (nu_exact + 1) / 2 * (side(start) / side(places[-1])).ln() + (push * push - last * last) / 2
            end.append(places[-1])
        accept = max(u[c], golden.exact("1e-10")).ln() < gain
        accepted.append(int(accept))
        q_next += [float(v) for v in (end if accept else m["q"][c])]
    return {"dims": {"chains": chains, "dim": dim, "steps": steps}, "scalars": {"step_size": step_size, "nu": nu},
            "inputs": inputs, "expected": {"q_next": q_next, "accepted": accepted}}


golden.write("level2/16", [case(1, 13, 5, 4, 0.8, 3.5, uniform, 1.0, 3.0), case(2, 9, 1, 1, 0.3, 8.0, lambda rng: rng.uniform(0.95, 1)),
                           case(3, 4, 30, 10, 0.8, 3.0, uniform, 1.0, 2.0),
                           case(4, 9, 3, 7, 0.5, 5.0, lambda rng: rng.choice([0.0, 1e-12, 1e-9]), 6.0, 4.0)])
