"""Golden vectors of level2/12: channels as lists over the whole batch, the moments rational, each activation pushed on."""

from fractions import Fraction

import golden
from turns import gelu


def decimal_of(value):
    return golden.exact(value.numerator) / golden.exact(value.denominator)


def case(seed, batch, channels, length, side, dilation, momentum, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    taps, n, momentum = 2 * side + 1, batch * length, golden.f32(momentum)
    draw = lambda count, m=0.0, s=1.0: golden.normals(rng, count, m, s)
    inputs = {"x": draw(batch * channels * length, mean, std), "gain": draw(channels, 1, 0.3), "shift": draw(channels, 0, 0.5),
              "w": draw(channels * channels * taps, 0, (channels * taps) ** -0.5), "bias": draw(channels, 0, 0.2),
              "mean_run": draw(channels, 0, 0.5), "var_run": [golden.f32(rng.uniform(0.5, 1.5)) for _ in range(channels)]}
    m = {name: [golden.exact(v) for v in data] for name, data in inputs.items()}
    share, mean_next, var_next = Fraction(momentum), [], []
    out = [v + m["bias"][i // length % channels] for i, v in enumerate(m["x"])]
    for c in range(channels):
        places = [(b * channels + c) * length + t for b in range(batch) for t in range(length)]
        x = [Fraction(inputs["x"][p]) for p in places]
        center = sum(x) / n
        var = sum(v * v for v in x) / n - center ** 2
        mean_next.append(float((1 - share) * Fraction(inputs["mean_run"][c]) + share * center))
        var_next.append(float((1 - share) * Fraction(inputs["var_run"][c]) + share * var * n / (n - 1)))
        deviation = (decimal_of(var) + golden.exact("1e-5")).sqrt()
        for place, v in zip(places, x):
            a = gelu(decimal_of(v - center) / deviation * m["gain"][c] + m["shift"][c])
            b, t = place // length // channels, place % length
            for j in range(taps):
                to = t - (j - side) * dilation
                if 0 <= to < length:
                    for o in range(channels):
                        out[(b * channels + o) * length + to] += a * m["w"][(o * channels + c) * taps + j]
    return {"dims": {"batch": batch, "channels": channels, "length": length, "side": side, "dilation": dilation},
            "scalars": {"momentum": momentum}, "inputs": inputs,
            "expected": {"y": [float(v) for v in out], "mean_next": mean_next, "var_next": var_next}}


golden.write("level2/12", [case(1, 2, 3, 7, 1, 2, 0.1), case(2, 2, 1, 1, 0, 1, 0.3), case(3, 1, 2, 20, 3, 5, 0.5, 12.0, 0.5),
                           case(4, 3, 4, 3, 1, 1, 0.07, 0.0, 0.003)])
