"""Golden vectors of level3/11: one row after the other, in 50-digit decimals."""

import golden
from layers import floats, linear, sigmoid, times, vectors


def case(seed, batch, d_in, d_a, d_c, d_out, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    inputs = {"x": golden.normals(rng, batch * d_in, mean, std), "w_first": golden.normals(rng, d_a * d_in, 0, 1.5 * d_in ** -0.5),
              "w_second": golden.normals(rng, d_c * d_a, 0, 1.8 * d_a ** -0.5), "w_third": golden.normals(rng, d_out * d_c, 0, 1.8 * d_c ** -0.5)}
    first, second, third = vectors(inputs["w_first"], d_in), vectors(inputs["w_second"], d_a), vectors(inputs["w_third"], d_c)
    y = []
    for v in vectors(inputs["x"], d_in):
        for stage in (first, second):
            u = linear(stage, v)
            v = times(u, sigmoid(u))
        y.append(linear(third, v))
    return {"dims": {"batch": batch, "d_in": d_in, "d_a": d_a, "d_c": d_c, "d_out": d_out}, "scalars": {}, "inputs": inputs,
            "expected": {"y": floats(y)}}


golden.write("level3/11", [case(1, 5, 4, 6, 5, 3), case(2, 1, 1, 1, 1, 1), case(3, 3, 9, 2, 7, 4, 1.0, 0.5), case(4, 4, 2, 5, 3, 8, 0.0, 0.02)])
