"""Golden vectors of level1/10: the whole product source * target^T, exactly; the edges pick from it."""

from fractions import Fraction

import golden


def case(seed, edges, sources, targets, width):
    rng = golden.generator(seed)
    source = golden.normals(rng, sources * width)
    target = golden.normals(rng, targets * width, 0.5)
    tail = [rng.randrange(sources) for _ in range(edges)]
    head = [rng.randrange(targets) for _ in range(edges)]
    whole = [[Fraction(0)] * targets for _ in range(sources)]
    for f in range(width):
        for s in range(sources):
            for t in range(targets):
                whole[s][t] += Fraction(source[s * width + f]) * Fraction(target[t * width + f])
    return {"dims": {"edges": edges, "sources": sources, "targets": targets, "width": width}, "scalars": {},
            "inputs": {"from": tail, "to": head, "source": source, "target": target},
            "expected": {"score": [float(whole[s][t]) for s, t in zip(tail, head)]}}


golden.write("level1/10", [case(1, 37, 7, 9, 5), case(2, 1, 1, 1, 1), case(3, 20, 1, 6, 3), case(4, 9, 5, 2, 17)])
