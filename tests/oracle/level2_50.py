"""Golden vectors of level2/50: alpha as it stands in 50-digit decimals, never rescaled."""

import golden
from layers import softmax, vectors


def case(seed, batch, length, states, symbols, std=1.5):
    rng = golden.generator(seed)
    symbol = [rng.randrange(symbols) for _ in range(batch * length)]
    inputs = {"symbol": symbol, "start": golden.normals(rng, states), "move": golden.normals(rng, states * states, 0, std),
              "emit": golden.normals(rng, states * symbols, 0, std)}
    pi = softmax([golden.exact(v) for v in inputs["start"]])
    a, b = ([softmax(row) for row in vectors(inputs[name], width)] for name, width in (("move", states), ("emit", symbols)))
    loglik, last = [], []
    for seen in (symbol[r * length:(r + 1) * length] for r in range(batch)):
        alpha = [p * row[seen[0]] for p, row in zip(pi, b)]
        for v in seen[1:]:
            alpha = [sum(alpha[i] * a[i][j] for i in range(states)) * b[j][v] for j in range(states)]
        loglik.append(float(sum(alpha).ln()))
        last += [float(p / sum(alpha)) for p in alpha]
    return {"dims": {"batch": batch, "len": length, "states": states, "symbols": symbols}, "scalars": {}, "inputs": inputs,
            "expected": {"loglik": loglik, "last": last}}


golden.write("level2/50", [case(1, 3, 6, 3, 4), case(2, 1, 1, 1, 1), case(3, 2, 60, 4, 5, 3.0), case(4, 5, 1, 7, 2)])
