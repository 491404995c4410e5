"""Golden vectors of level1/6: alpha[e,h] = 1 / sum over f of exp(score[f,h] - score[e,h]), in 50-digit decimals."""

import golden


def case(seed, degrees, heads, mean, std):
    rng = golden.generator(seed)
    edges = sum(degrees)
    score = golden.normals(rng, edges * heads, mean, std)
    alpha, row_ptr = [], [0]
    for degree in degrees:
        row = range(row_ptr[-1], row_ptr[-1] + degree)
        row_ptr.append(row_ptr[-1] + degree)
        for e in row:
            for h in range(heads):
                own = golden.exact(score[e * heads + h])
                alpha.append(float(1 / sum((golden.exact(score[f * heads + h]) - own).exp() for f in row)))
    return {"dims": {"rows": len(degrees), "edges": edges, "heads": heads}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "score": score}, "expected": {"alpha": alpha}}


golden.write("level1/6", [case(1, [5, 0, 1, 12, 2], 3, 0, 3), case(2, [0], 2, 0, 1), case(3, [0, 9, 0, 4], 5, 90, 8),
                          case(4, [1, 1, 3], 1, -200, 5)])
