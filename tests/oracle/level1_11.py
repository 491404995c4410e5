"""Golden vectors of level1/11: D^-1/2 A D^-1/2 x with a dense adjacency matrix, in 50-digit decimals."""

import golden


def case(seed, nodes, pairs, loops, width, mean=0.0):
    rng = golden.generator(seed)
    adjacent = [[0] * nodes for _ in range(nodes)]
    every = [(a, b) for a in range(nodes) for b in range(a)]
    for a, b in rng.sample(every, pairs) + [(n, n) for n in rng.sample(range(nodes), loops)]:
        adjacent[a][b] = adjacent[b][a] = 1
    x = golden.normals(rng, nodes * width, mean)
    degree = [sum(row) for row in adjacent]
    root = [1 / golden.exact(d).sqrt() if d else golden.exact(0) for d in degree]
    row_ptr, col, y = [0], [], []
    for r in range(nodes):
        col += [s for s in range(nodes) if adjacent[r][s]]
        row_ptr.append(len(col))
        y += [float(root[r] * sum(adjacent[r][s] * root[s] * golden.exact(x[s * width + f]) for s in range(nodes)))
              for f in range(width)]
    return {"dims": {"nodes": nodes, "edges": len(col), "width": width}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "col": col, "degree": degree, "x": x}, "expected": {"y": y}}


golden.write("level1/11", [case(1, 11, 14, 1, 5), case(2, 1, 0, 0, 1), case(3, 9, 4, 0, 3, 2.0), case(4, 6, 15, 1, 2)])
