"""Golden vectors of level2/13: quotients as fractions, rounded to float32 by integer arithmetic; the rest in decimals."""

from fractions import Fraction

import golden
from layers import dot, vectors


def nearest(value):
    """The nearest integer to a fraction, ties to even."""
    whole = value.numerator // value.denominator
    rest = value - whole
    return whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))


def quotient(a, b):
    """a/b as the nearest float32: 24 bits of it, without an intermediate double. Normal numbers only."""
    exact = Fraction(a) / Fraction(b)
    if exact == 0:
        return exact
    power = 0
    while abs(exact) * Fraction(2) ** power < 2 ** 23:
        power += 1
    while abs(exact) * Fraction(2) ** power >= 2 ** 24:
        power -= 1
    return nearest(exact * Fraction(2) ** power) / Fraction(2) ** power


def case(seed, batch, length, cin, cout, draw=lambda rng: rng.gauss(0, 1)):
    rng = golden.generator(seed)
    tokens = batch * length
    inputs = {"x": [golden.f32(draw(rng)) for _ in range(tokens * cin)], "gate": golden.normals(rng, tokens, 0, 2),
              "w": golden.normals(rng, cout * cin, 0, cin ** -0.5), "bias": golden.normals(rng, cout, 0, 0.2)}
    step = quotient(max(abs(v) for v in inputs["x"]), 127.0)
    w, bias, y = vectors(inputs["w"], cin), vectors(inputs["bias"], cout)[0], []
    for t, gate in enumerate(inputs["gate"]):
        share, m = 1 / (1 + (-golden.exact(gate)).exp()), []
        for v in inputs["x"][t * cin:(t + 1) * cin]:
            off = step * nearest(quotient(v, step)) - Fraction(v)                       # what quantization changes
            m.append(golden.exact(v) + share * golden.exact(off.numerator) / golden.exact(off.denominator))
        y += [float(dot(row, m) + b) for row, b in zip(w, bias)]
    return {"dims": {"batch": batch, "len": length, "cin": cin, "cout": cout}, "scalars": {}, "inputs": inputs,
            "expected": {"y": y}}


golden.write("level2/13", [case(1, 2, 3, 5, 4), case(2, 1, 1, 1, 1), case(3, 1, 6, 17, 3),
                           case(4, 2, 5, 8, 2, lambda rng: rng.choice([-63.5, 63.5, 0.25, 0.75, -1.25, -2.75, 30.25]))])
