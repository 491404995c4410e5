"""Golden vectors of level1/20: pairs are complex numbers times exp(i*angle), whose series runs on exact fractions."""

from fractions import Fraction

import golden

# Half a turn, from the arctangent series of Machin.
def arctan_inverse(n, terms=60):
    return sum(Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(terms))


PI = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


def turn(angle):
    """Cosine and sine of a float, to more than 40 digits."""
    x = Fraction(angle)
    x -= 2 * PI * round(x / (2 * PI))
    x = Fraction(round(x * 10 ** 60), 10 ** 60)
    term, parts = Fraction(1), [Fraction(0), Fraction(0)]
    for n in range(1, 60):
        parts[(n - 1) % 2] += term if (n - 1) % 4 < 2 else -term
        term = Fraction(round(term * x / n * 10 ** 60), 10 ** 60)
    return parts


def case(seed, batch, heads, length, dim, start, base):
    rng = golden.generator(seed)
    half = dim // 2
    inv_freq = [golden.f32(base ** (-2 * i / dim)) for i in range(half)]
    tensors = {name: golden.normals(rng, batch * heads * length * dim) for name in ("q", "k")}
    out = {"q_out": [], "k_out": []}
    for name, x in tensors.items():
        for row in range(batch * heads * length):
            part = x[row * dim:(row + 1) * dim]
            low, high = [], []
            for i in range(half):
                c, s = turn(golden.f32((start + row % length) * inv_freq[i]))
                a, b = Fraction(part[i]), Fraction(part[i + half])
                low.append(float(a * c - b * s))
                high.append(float(b * c + a * s))
            out[name + "_out"] += low + high
    return {"dims": {"batch": batch, "heads": heads, "length": length, "pairs": half}, "scalars": {"start": start},
            "inputs": {**tensors, "inv_freq": inv_freq}, "expected": out}


golden.write("level1/20", [case(1, 2, 2, 5, 6, 17, 10000), case(2, 1, 1, 1, 2, 0, 10000), case(3, 1, 2, 4, 4, 19999, 500000),
                           case(4, 1, 1, 6, 8, 1021, 3)])
