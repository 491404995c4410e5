"""Golden vectors of level2/37: each row as a list of (power, neighbour) pairs in 50-digit decimals, no maximum taken out."""

import golden


def case(seed, degrees, nodes, channels, mean=0.0, std=2.0):
    rng = golden.generator(seed)
    x = golden.normals(rng, nodes * channels)
    row_ptr, col, score, y = [0], [], [], []
    for degree in degrees:
        neighbours = sorted(rng.sample(range(nodes), degree))
        logits = golden.normals(rng, degree, mean, std)
        powers = [golden.exact(s).exp() for s in logits]
        for c in range(channels):
            weighted = [p * golden.exact(x[n * channels + c]) for p, n in zip(powers, neighbours)]
            y.append(float(sum(weighted) / sum(powers)) if powers else 0.0)
        row_ptr.append(row_ptr[-1] + degree)
        col += neighbours
        score += logits
    return {"dims": {"rows": len(degrees), "nodes": nodes, "edges": len(col), "channels": channels}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "col": col, "score": score, "x": x}, "expected": {"y": y}}


golden.write("level2/37", [case(1, [3, 0, 7, 1, 2], 13, 5), case(2, [0], 4, 1), case(3, [0, 11, 0, 1], 17, 3, 90, 30),
                           case(4, [1, 1], 2, 2, -200, 5)])
