"""Golden vectors of level1/15: the incidence matrix of nodes and edges, dense, times the messages; exact."""

from fractions import Fraction

import golden


def case(seed, edges, nodes, width, used, mean=0.0):
    rng = golden.generator(seed)
    target = [rng.randrange(used) * nodes // used for _ in range(edges)]
    message = golden.normals(rng, edges * width, mean)
    incidence = [[int(t == v) for t in target] for v in range(nodes)]
    y = [float(sum(incidence[v][e] * Fraction(message[e * width + f]) for e in range(edges)))
         for v in range(nodes) for f in range(width)]
    return {"dims": {"edges": edges, "nodes": nodes, "width": width}, "scalars": {},
            "inputs": {"target": target, "message": message}, "expected": {"y": y}}


golden.write("level1/15", [case(1, 31, 9, 5, 6), case(2, 1, 1, 1, 1), case(3, 0, 4, 2, 1), case(4, 40, 3, 3, 2, 3.0)])
