"""Golden vectors of level2/42: each link turned by one turn after the other, as products of complex numbers, in 50-digit decimals."""

import golden
from turns import turn


def case(seed, chains, joints, reach=1.6):
    rng = golden.generator(seed)
    theta = [golden.f32(rng.uniform(-reach, reach)) for _ in range(chains * joints)]
    link = [golden.f32(rng.uniform(0.3, 1)) for _ in range(joints)]
    place = []
    for b in range(chains):
        at, way = [golden.exact(0)] * 2, [golden.exact(1), golden.exact(0)]
        for j in range(joints):
            c, s = turn(theta[b * joints + j])
            way = [way[0] * c - way[1] * s, way[0] * s + way[1] * c]
            at = [p + golden.exact(link[j]) * w for p, w in zip(at, way)]
            place += [float(p) for p in at]
    return {"dims": {"chains": chains, "joints": joints}, "scalars": {}, "inputs": {"theta": theta, "link": link},
            "expected": {"place": place}}


golden.write("level2/42", [case(1, 3, 5), case(2, 1, 1), case(3, 2, 33, 0.6), case(4, 4, 7, 12.0)])
