"""Golden vectors of level1/28: the predictive probabilities (alpha[k] + seen so far) / (A + draws so far), multiplied out."""

import golden


def case(seed, rows, categories, high, spread=0.7):
    rng = golden.generator(seed)
    count = [rng.randint(0, high) for _ in range(rows * categories)]
    log_alpha = golden.normals(rng, categories, 0, spread)
    alpha = [golden.exact(v).exp() for v in log_alpha]
    y = []
    for i in range(rows):
        chance, draws = golden.exact(1), 0
        for k in range(categories):
            for seen in range(count[i * categories + k]):
                chance *= (alpha[k] + seen) / (sum(alpha) + draws)
                draws += 1
        y.append(float(chance.ln()))
    return {"dims": {"rows": rows, "categories": categories}, "scalars": {},
            "inputs": {"count": count, "log_alpha": log_alpha}, "expected": {"y": y}}


golden.write("level1/28", [case(1, 21, 5, 9), case(2, 3, 1, 4), case(3, 5, 40, 2), case(4, 6, 7, 60, 2.0), case(5, 2, 3, 0)])
