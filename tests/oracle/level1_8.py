"""Golden vectors of level1/8: each row is sorted as a list of (value, edge). JSON has no infinity, so no row is shorter than k."""

import golden


def case(seed, degrees, k, values=None):
    rng = golden.generator(seed)
    edges = sum(degrees)
    value = [rng.choice(values) for _ in range(edges)] if values else golden.normals(rng, edges)
    row_ptr, top, edge = [0], [], []
    for degree in degrees:
        row_ptr.append(row_ptr[-1] + degree)
        order = sorted(range(row_ptr[-2], row_ptr[-1]), key=lambda e: (-value[e], e))[:k]
        assert len(order) == k
        top += [value[e] for e in order]
        edge += order
    return {"dims": {"rows": len(degrees), "edges": edges, "k": k}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "value": value}, "expected": {"top": top, "edge": edge}}


golden.write("level1/8", [case(1, [5, 4, 12, 7, 4], 4), case(2, [1], 1), case(3, [9, 20, 8], 6, [-1.0, 0.0, 0.5]),
                          case(4, [2, 17, 1], 1), case(5, [30, 16], 16)])
