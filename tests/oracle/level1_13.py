"""Golden vectors of level1/13: integer coordinates; every step measures all points against the whole set chosen so far."""

import golden


def case(seed, batch, points, samples, step, reach=1.0):
    rng = golden.generator(seed)
    limit = int(reach / step)
    grid = [[[rng.randint(-limit, limit) for _ in range(3)] for _ in range(points)] for _ in range(batch)]
    chosen = []
    for cloud in grid:
        taken = [0]
        while len(taken) < samples:
            rest = [i for i in range(points) if i not in taken]
            gaps = [min(sum((u - v) ** 2 for u, v in zip(cloud[i], cloud[c])) for c in taken) for i in rest]
            taken.append(rest[gaps.index(max(gaps))])
        chosen += taken
    return {"dims": {"batch": batch, "points": points, "samples": samples}, "scalars": {},
            "inputs": {"point": [u * step for cloud in grid for p in cloud for u in p]}, "expected": {"chosen": chosen}}


golden.write("level1/13", [case(1, 2, 30, 12, 1 / 1024), case(2, 1, 1, 1, 1 / 1024), case(3, 2, 40, 40, 1 / 2),
                           case(4, 3, 9, 5, 1 / 8), case(5, 1, 100, 30, 1 / 1024, 1 / 16)])
