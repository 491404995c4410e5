"""Golden vectors of level1/16: each token collects its own rows and adds them exactly."""

from fractions import Fraction

import golden


def case(seed, counts, width, signed=False):
    rng = golden.generator(seed)
    owner = [t for t, count in enumerate(counts) for _ in range(count)]
    rng.shuffle(owner)
    hidden = golden.normals(rng, len(owner) * width)
    gate = [golden.f32(rng.gauss(0, 1) if signed else rng.uniform(0.05, 1)) for _ in owner]
    combined = []
    for t in range(len(counts)):
        mine = [r for r, o in enumerate(owner) if o == t]
        for f in range(width):
            combined.append(float(sum(Fraction(gate[r]) * Fraction(hidden[r * width + f]) for r in mine)))
    return {"dims": {"rows": len(owner), "tokens": len(counts), "width": width}, "scalars": {},
            "inputs": {"hidden": hidden, "owner": owner, "gate": gate}, "expected": {"combined": combined}}


golden.write("level1/16", [case(1, [3, 0, 1, 8, 2, 0, 5], 5), case(2, [1], 1), case(3, [0, 0], 3),
                           case(4, [2, 2, 0, 12], 3, signed=True)])
