"""Golden vectors of level2/26: keys as complex fractions, the cache as a dictionary by sequence and position."""

from fractions import Fraction

import golden


def case(seed, batch, length, heads, pairs, cache):
    rng = golden.generator(seed)
    width = 2 * heads * pairs
    inputs = {"k_new": golden.normals(rng, batch * length * width), "v_new": golden.normals(rng, batch * length * width),
              "cosine": [golden.f32(rng.uniform(-1, 1)) for _ in range(cache * pairs)],
              "sine": [golden.f32(rng.uniform(-1, 1)) for _ in range(cache * pairs)],
              "position": [s for _ in range(batch) for s in rng.sample(range(cache), length)],
              "k_cache": golden.normals(rng, batch * cache * width), "v_cache": golden.normals(rng, batch * cache * width)}
    lines = lambda name: [inputs[name][i:i + width] for i in range(0, len(inputs[name]), width)]
    keys, values = ({divmod(r, cache): line for r, line in enumerate(lines(name))} for name in ("k_cache", "v_cache"))
    for token, (k, v) in enumerate(zip(lines("k_new"), lines("v_new"))):
        s, turned = inputs["position"][token], []
        for n, (real, imaginary) in enumerate(zip(k[::2], k[1::2])):
            c, d = (Fraction(inputs[name][s * pairs + n % pairs]) for name in ("cosine", "sine"))
            turned += [float(Fraction(real) * c - Fraction(imaginary) * d), float(Fraction(real) * d + Fraction(imaginary) * c)]
        keys[token // length, s], values[token // length, s] = turned, v
    flat = lambda store: [v for b in range(batch) for s in range(cache) for v in store[b, s]]
    return {"dims": {"batch": batch, "len": length, "heads": heads, "pairs": pairs, "cache": cache}, "scalars": {},
            "inputs": inputs, "expected": {"k_next": flat(keys), "v_next": flat(values)}}


golden.write("level2/26", [case(1, 2, 3, 2, 3, 6), case(2, 1, 1, 1, 1, 1), case(3, 3, 2, 1, 2, 2), case(4, 1, 1, 3, 1, 9)])
