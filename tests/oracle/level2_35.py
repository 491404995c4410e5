"""Golden vectors of level2/35: the convolution in exact fractions, the variance as mean square less squared mean."""

from fractions import Fraction

import golden


def root(value):
    return (golden.exact(value.numerator) / golden.exact(value.denominator)).sqrt()


def case(seed, batch, cin, groups, width, length, reach, mean=0.0):
    rng = golden.generator(seed)
    cout, taps = groups * width, 2 * reach + 1
    inputs = {"x": golden.normals(rng, batch * cin * length, mean), "w": golden.normals(rng, cout * cin * taps, 0, (cin * taps) ** -0.5),
              "bias": golden.normals(rng, cout, 0, 0.5), "gain": golden.normals(rng, cout, 1, 0.3),
              "shift": golden.normals(rng, cout, 0, 0.5)}
    x, w, bias, gain, shift = ([Fraction(v) for v in inputs[name]] for name in ("x", "w", "bias", "gain", "shift"))
    y = []
    for b in range(batch):
        for g in range(groups):
            group = {}
            for o in range(g * width, (g + 1) * width):
                for t in range(length):
                    group[o, t] = bias[o] + sum(w[(o * cin + c) * taps + j] * x[(b * cin + c) * length + t + j - reach]
                                                for c in range(cin) for j in range(taps) if 0 <= t + j - reach < length)
            center = sum(group.values()) / len(group)
            deviation = root(sum(v * v for v in group.values()) / len(group) - center * center + Fraction(1, 100000))
            for (o, t), v in group.items():
                part = v - center
                y.append(float(golden.exact(part.numerator) / golden.exact(part.denominator) / deviation
                               * golden.exact(inputs["gain"][o]) + golden.exact(inputs["shift"][o])))
    return {"dims": {"batch": batch, "cin": cin, "groups": groups, "width": width, "length": length, "reach": reach},
            "scalars": {}, "inputs": inputs, "expected": {"y": y}}


golden.write("level2/35", [case(1, 2, 3, 2, 3, 9, 1), case(2, 1, 1, 1, 1, 24, 0), case(3, 1, 2, 3, 25, 1, 2),
                           case(4, 3, 2, 1, 12, 2, 3, 2.0)])
