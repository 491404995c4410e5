"""Golden vectors of level2/7: one dense filter of both maps, every input pushed to the times it reaches, in fractions."""

from fractions import Fraction

import golden


def case(seed, batch, cin, cout, length, side, mean=0.0):
    rng = golden.generator(seed)
    taps = 2 * side + 1
    inputs = {"x": golden.normals(rng, batch * cin * length, mean), "w_depth": golden.normals(rng, cin * taps, 0, taps ** -0.5),
              "w_point": golden.normals(rng, cout * cin, 0, cin ** -0.5)}
    depth, point = ([Fraction(v) for v in inputs[name]] for name in ("w_depth", "w_point"))
    y = [Fraction(0)] * (batch * cout * length)
    for n, v in enumerate(inputs["x"]):
        b, c, t = n // length // cin, n // length % cin, n % length
        for j in range(taps):
            if 0 <= t + side - j < length:
                for o in range(cout):
                    y[(b * cout + o) * length + t + side - j] += Fraction(v) * depth[c * taps + j] * point[o * cin + c]
    return {"dims": {"batch": batch, "cin": cin, "cout": cout, "length": length, "side": side}, "scalars": {},
            "inputs": inputs, "expected": {"y": [float(v) for v in y]}}


golden.write("level2/7", [case(1, 2, 3, 5, 11, 1), case(2, 1, 1, 1, 1, 0), case(3, 1, 4, 2, 3, 5), case(4, 2, 2, 3, 20, 4, 2.0)])
