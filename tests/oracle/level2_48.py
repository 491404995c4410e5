"""Golden vectors of level2/48: states in exact fractions, weights in 50-digit decimals, a walk along the particles for the draw."""

from fractions import Fraction

import golden


def decimal_of(value):
    return golden.exact(value.numerator) / golden.exact(value.denominator)


def product(matrix, v):
    return [sum(a * b for a, b in zip(matrix[o:o + len(v)], v)) for o in range(0, len(matrix), len(v))]


def step(x, noise, weight, obs, u, move, see, jitter, spread):
    """One row: (mean, ancestors, new particles)."""
    p = [[a + jitter * n for a, n in zip(product(move, v), e)] for v, e in zip(x, noise)]
    miss = [sum((s - o) ** 2 for s, o in zip(product(see, v), obs)) for v in p]
    w = [decimal_of(a) * (-decimal_of(m / (2 * spread ** 2))).exp() for a, m in zip(weight, miss)]
    w = [a / sum(w) for a in w]
    mean = [sum(a * decimal_of(v[c]) for a, v in zip(w, p)) for c in range(len(x[0]))]
    ancestors, i, total = [], 0, w[0]
    for k in range(len(x)):
        while total < (k + decimal_of(u)) / len(x) and i < len(x) - 1:
            i += 1
            total += w[i]
        ancestors.append(i)
    return mean, ancestors, [p[a] for a in ancestors]


def case(seed, batch, particles, state, seen, jitter, spread, obs_mean=0.0):
    rng = golden.generator(seed)
    draw = lambda count, mean=0.0, std=1.0: golden.normals(rng, count, mean, std)
    uniform = lambda count, low, high: [golden.f32(rng.uniform(low, high)) for _ in range(count)]
    inputs = {"x": draw(batch * particles * state), "weight": uniform(batch * particles, 0.1, 1),
              "noise": draw(batch * particles * state), "obs": draw(batch * seen, obs_mean), "u": uniform(batch, 0.01, 0.99),
              "move": draw(state * state, 0, 0.9 * state ** -0.5), "see": draw(seen * state, 0, state ** -0.5)}
    jitter, spread = golden.f32(jitter), golden.f32(spread)
    t = {name: [Fraction(v) for v in data] for name, data in inputs.items()}
    mean, ancestor, after = [], [], []
    for b in range(batch):
        rows = lambda data: [data[(b * particles + i) * state:(b * particles + i + 1) * state] for i in range(particles)]
        m, a, n = step(rows(t["x"]), rows(t["noise"]), t["weight"][b * particles:(b + 1) * particles],
                       t["obs"][b * seen:(b + 1) * seen], t["u"][b], t["move"], t["see"], Fraction(jitter), Fraction(spread))
        mean += [float(v) for v in m]
        ancestor += a
        after += [float(v) for row in n for v in row]
    return {"dims": {"batch": batch, "particles": particles, "state": state, "seen": seen},
            "scalars": {"jitter": jitter, "spread": spread}, "inputs": inputs,
            "expected": {"mean": mean, "ancestor": ancestor, "next": after}}


golden.write("level2/48", [case(1, 2, 16, 3, 2, 0.1, 0.5), case(2, 1, 1, 1, 1, 0.2, 0.4, 3.0), case(3, 3, 7, 2, 1, 0.3, 0.7, 3.0),
                           case(4, 1, 40, 4, 2, 0.05, 0.6)])
