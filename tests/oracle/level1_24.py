"""Golden vectors of level1/24: atoms by cell in a dictionary; features are added first and mapped once a cell, exactly."""

from fractions import Fraction

import golden


def case(seed, batch, atoms, features, channels, side, voxel, mean, std):
    rng = golden.generator(seed)
    position = [round(rng.gauss(mean, std)) for _ in range(batch * atoms * 3)]
    feature = golden.normals(rng, batch * atoms * features)
    weight = golden.normals(rng, channels * features, 0, 0.5)
    bias = golden.normals(rng, channels)
    grid = [0.0] * (batch * side ** 3 * channels)
    for b in range(batch):
        mine = [position[(b * atoms + n) * 3:(b * atoms + n) * 3 + 3] for n in range(atoms)]
        middle = [sum(p[a] for p in mine) // atoms for a in range(3)]
        groups = {}
        for n, p in enumerate(mine):
            cell = tuple(min(max((p[a] - middle[a]) // voxel + side // 2, 0), side - 1) for a in range(3))
            groups.setdefault(cell, []).append(b * atoms + n)
        for (x, y, z), members in groups.items():
            total = [sum(Fraction(feature[n * features + f]) for n in members) for f in range(features)]
            for c in range(channels):
                out = len(members) * Fraction(bias[c]) + sum(
                    Fraction(weight[c * features + f]) * total[f] for f in range(features))
                grid[(((b * side + x) * side + y) * side + z) * channels + c] = float(out)
    return {"dims": {"batch": batch, "atoms": atoms, "features": features, "channels": channels, "side": side},
            "scalars": {"voxel": voxel}, "inputs": {"position": position, "feature": feature, "weight": weight, "bias": bias},
            "expected": {"grid": grid}}


golden.write("level1/24", [case(1, 2, 20, 3, 5, 4, 100, 20000, 120), case(2, 1, 1, 1, 1, 1, 80, 0, 50),
                           case(3, 1, 40, 4, 2, 3, 97, -150000, 60), case(4, 3, 9, 2, 3, 5, 140, 1000000000, 300)])
