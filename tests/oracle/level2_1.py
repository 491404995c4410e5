"""Golden vectors of level2/1: both maps folded into one exact matrix of fractions before any token is seen."""

from fractions import Fraction

import golden


def fold(down, up, channels, inner, wide):
    """down [channels, inner] times up [inner, wide]."""
    return [[sum(down[c * inner + r] * up[r * wide + o] for r in range(inner)) for o in range(wide)] for c in range(channels)]


def case(seed, batch, length, channels, inner, heads, hd, mean=0.0):
    rng = golden.generator(seed)
    wide, tokens = heads * hd, batch * length
    inputs = {"x": golden.normals(rng, tokens * channels, mean), "w_down": golden.normals(rng, channels * inner, 0, channels ** -0.5),
              "w_key": golden.normals(rng, inner * wide, 0, inner ** -0.5), "w_value": golden.normals(rng, inner * wide, 0, inner ** -0.5)}
    exact = {name: [Fraction(v) for v in data] for name, data in inputs.items()}
    maps = [fold(exact["w_down"], exact[name], channels, inner, wide) for name in ("w_key", "w_value")]
    kv = []
    for t in range(tokens):
        x = exact["x"][t * channels:(t + 1) * channels]
        for matrix in maps:
            kv += [float(sum(v * row[o] for v, row in zip(x, matrix))) for o in range(wide)]
    return {"dims": {"batch": batch, "len": length, "channels": channels, "inner": inner, "heads": heads, "hd": hd},
            "scalars": {}, "inputs": inputs, "expected": {"kv": kv}}


golden.write("level2/1", [case(1, 2, 3, 10, 8, 2, 3), case(2, 1, 1, 1, 8, 1, 1), case(3, 1, 4, 5, 9, 3, 2, 2.0)])
