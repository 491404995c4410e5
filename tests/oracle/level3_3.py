"""Golden vectors of level3/3: four lists of pixels, each in the order of its way, on exact fractions."""

from fractions import Fraction

import golden


def case(seed, batch, channels, height, width):
    rng = golden.generator(seed)
    size = height * width
    inputs = {"x": golden.normals(rng, batch * channels * size), "w": golden.normals(rng, channels * 3, 0, 0.5),
              "bias": golden.normals(rng, channels, 0, 0.5)}
    rows, columns = range(height), range(width)
    ways = [[(i, j) for i in rows for j in columns], [(i, j) for i in rows for j in reversed(columns)],
            [(i, j) for j in columns for i in rows], [(i, j) for j in columns for i in reversed(rows)]]
    y = []
    for image in range(batch * channels):
        pixels = [Fraction(v) for v in inputs["x"][image * size:(image + 1) * size]]
        c = image % channels
        taps, bias = [Fraction(v) for v in inputs["w"][c * 3:c * 3 + 3]], Fraction(inputs["bias"][c])
        out = list(pixels)
        for way in ways:
            places = [i * width + j for i, j in way]
            line = [Fraction(0)] + [pixels[p] for p in places] + [Fraction(0)]
            for n, p in enumerate(places):
                out[p] += bias + sum(t * v for t, v in zip(taps, line[n:n + 3]))
        y += [float(v) for v in out]
    return {"dims": {"batch": batch, "channels": channels, "height": height, "width": width}, "scalars": {},
            "inputs": inputs, "expected": {"y": y}}


golden.write("level3/3", [case(1, 2, 2, 3, 4), case(2, 1, 1, 1, 1), case(3, 1, 3, 5, 2), case(4, 1, 1, 1, 6), case(5, 1, 2, 4, 1)])
