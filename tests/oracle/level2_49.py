"""Golden vectors of level2/49: GELUs by the series of erf in 50-digit decimals."""

import golden
from turns import gelu


def case(seed, ranks, batch, channels, mean=0.0, std=1.0):
    rng = golden.generator(seed)
    count = batch * channels
    x = golden.normals(rng, ranks * count, mean, std)
    y = [float(sum(gelu(golden.exact(v)) for v in x[i::count])) for i in range(count)]
    return {"dims": {"ranks": ranks, "batch": batch, "channels": channels}, "scalars": {}, "inputs": {"x": x}, "expected": {"y": y}}


golden.write("level2/49", [case(1, 3, 4, 5), case(2, 1, 1, 1), case(3, 8, 2, 3, -2.0, 0.5), case(4, 2, 1, 33, 0.0, 0.01)])
