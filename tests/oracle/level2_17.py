"""Golden vectors of level2/17: integer dot products, then one query at a time in 50-digit decimals, no maximum taken out."""

import golden


def attend(query, keys, values, logit_scale):
    """The mean of `values` under softmax(logit_scale * query . keys)."""
    powers = [(logit_scale * sum(a * b for a, b in zip(query, key))).exp() for key in keys]
    total = sum(powers)
    return [sum(p * value[d] for p, value in zip(powers, values)) / total for d in range(len(query))]


def case(seed, batch, length, heads, hd, low=-128, high=127):
    rng = golden.generator(seed)
    q, k, v = ([rng.randint(low, high) for _ in range(batch * length * heads * hd)] for _ in range(3))
    scales = [[golden.f32(rng.uniform(0.01, 0.03)) for _ in range(heads)] for _ in range(3)]
    y = [0.0] * len(q)
    for b in range(batch):
        for h in range(heads):
            place = lambda i: ((b * length + i) * heads + h) * hd
            rows = lambda data, end: [data[place(i):place(i) + hd] for i in range(end)]
            sq, sk, sv = (golden.exact(s[h]) for s in scales)
            for i in range(length):
                mean = attend(rows(q, i + 1)[i], rows(k, i + 1), rows(v, i + 1), sq * sk / golden.exact(hd).sqrt())
                y[place(i):place(i) + hd] = [float(sv * m) for m in mean]
    return {"dims": {"batch": batch, "len": length, "heads": heads, "hd": hd}, "scalars": {},
            "inputs": {"q": q, "k": k, "v": v, "q_scale": scales[0], "k_scale": scales[1], "v_scale": scales[2]},
            "expected": {"y": y}}


golden.write("level2/17", [case(1, 2, 7, 2, 5), case(2, 1, 1, 1, 1), case(3, 1, 18, 3, 8, -40, 40), case(4, 1, 5, 1, 17)])
