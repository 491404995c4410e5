"""Golden vectors of level2/9: the exact difference of energies as one rational sum, against a 50-digit logarithm."""

from fractions import Fraction

import golden


def decimal_of(value):
    return golden.exact(value.numerator) / golden.exact(value.denominator)


def case(seed, chains, dim, step, u_of):
    rng = golden.generator(seed)
    step = golden.f32(step)
    x, noise = golden.normals(rng, chains * dim), golden.normals(rng, chains * dim)
    u = [golden.f32(u_of(rng)) for _ in range(chains)]
    center = golden.normals(rng, dim, 0.0, 0.3)
    width = [golden.f32(rng.uniform(0.5, 1.5)) for _ in range(dim)]
    x_next, accepted = [], []
    for c in range(chains):
        row = [Fraction(v) for v in x[c * dim:(c + 1) * dim]]
        move = [Fraction(step) * Fraction(v) for v in noise[c * dim:(c + 1) * dim]]
        # energy(x) - energy(x + m) = -sum of m (2 (x - center) + m) / (2 width^2)
        gain = -sum(m * (2 * (v - Fraction(o)) + m) / (2 * Fraction(w) ** 2)
                    for v, m, o, w in zip(row, move, center, width))
        accept = max(golden.exact(u[c]), golden.exact("1e-10")).ln() < decimal_of(gain)
        accepted.append(int(accept))
        x_next += [float(v + m if accept else v) for v, m in zip(row, move)]
    return {"dims": {"chains": chains, "dim": dim}, "scalars": {"step": step},
            "inputs": {"x": x, "noise": noise, "u": u, "center": center, "width": width},
            "expected": {"x_next": x_next, "accepted": accepted}}


def uniform(rng):
    return rng.random()


golden.write("level2/9", [case(1, 13, 5, 0.6, uniform), case(2, 9, 1, 1.7, uniform), case(3, 3, 40, 0.2, uniform),
                          case(4, 9, 3, 3.0, lambda rng: rng.choice([0.0, 1e-12, 1e-9]))])
