"""Golden vectors of level1/5: every input sample is pushed forward to the times that its weights reach, exactly."""

from fractions import Fraction

import golden


def case(seed, batch, cin, cout, length, taps, dilation):
    rng = golden.generator(seed)
    x = golden.normals(rng, batch * cin * length)
    w = golden.normals(rng, cout * cin * taps, 0, 0.4)
    y = [Fraction(0)] * (batch * cout * length)
    for i, sample in enumerate(x):
        n, c, t = i // (cin * length), i // length % cin, i % length
        for o in range(cout):
            filter_row = w[(o * cin + c) * taps:(o * cin + c + 1) * taps]
            for back, weight in enumerate(reversed(filter_row)):
                if t + back * dilation < length:
                    y[(n * cout + o) * length + t + back * dilation] += Fraction(sample) * Fraction(weight)
    return {"dims": {"batch": batch, "cin": cin, "cout": cout, "length": length, "taps": taps, "dilation": dilation},
            "scalars": {}, "inputs": {"x": x, "w": w}, "expected": {"y": [float(v) for v in y]}}


golden.write("level1/5", [case(1, 2, 3, 5, 11, 4, 2), case(2, 1, 1, 1, 1, 1, 1), case(3, 1, 2, 3, 9, 3, 100),
                          case(4, 3, 4, 2, 17, 5, 1)])
