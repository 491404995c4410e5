"""Golden vectors of level2/27: exact fractions, the gradients added up before they are cut."""

from fractions import Fraction

import golden


def case(seed, ranks, shard, momentum, rate):
    rng = golden.generator(seed)
    momentum, rate = golden.f32(momentum), golden.f32(rate)
    size = ranks * shard
    g = [golden.normals(rng, size) for _ in range(ranks)]
    p, v = golden.normals(rng, size), golden.normals(rng, size)
    total = [sum(Fraction(part[i]) for part in g) for i in range(size)]
    velocity = [Fraction(momentum) * Fraction(a) + b / ranks for a, b in zip(v, total)]
    return {"dims": {"ranks": ranks, "shard": shard}, "scalars": {"momentum": momentum, "rate": rate},
            "inputs": {"g": sum(g, []), "p": p, "v": v},
            "expected": {"v_next": [float(a) for a in velocity],
                         "p_next": [float(Fraction(a) - Fraction(rate) * b) for a, b in zip(p, velocity)]}}


golden.write("level2/27", [case(1, 2, 7, 0.9, 0.1), case(2, 4, 5, 0.5, 0.02), case(3, 1, 6, 0.8, 0.3),
                           case(4, 8, 3, 0.95, 0.05)])
