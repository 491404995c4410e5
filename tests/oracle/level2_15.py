"""Golden vectors of level2/15: one query at a time in 50-digit decimals, no maximum taken out."""

import golden
from layers import dot, softmax, vectors


def case(seed, batch, length, kv, share, hd, q_std=1.0, k_mean=0.0):
    rng = golden.generator(seed)
    heads = kv * share
    inputs = {"q": golden.normals(rng, batch * length * heads * hd, 0, q_std),
              "k": golden.normals(rng, batch * length * kv * hd, k_mean), "v": golden.normals(rng, batch * length * kv * hd)}
    q, k, v = (vectors(inputs[name], hd) for name in ("q", "k", "v"))
    y = []
    for row, query in enumerate(q):
        h, place = row % heads, row // heads
        seen = [m * kv + h // share for m in range(place // length * length, place + 1)]
        weights = softmax([dot(query, k[m]) / golden.exact(hd).sqrt() for m in seen])
        y += [float(dot(weights, [v[m][d] for m in seen])) for d in range(hd)]
    return {"dims": {"batch": batch, "len": length, "kv": kv, "share": share, "hd": hd}, "scalars": {}, "inputs": inputs,
            "expected": {"y": y}}


golden.write("level2/15", [case(1, 2, 7, 2, 2, 5), case(2, 1, 1, 1, 1, 1), case(3, 1, 12, 1, 3, 4, 4.0),
                           case(4, 1, 5, 3, 1, 9, 1.0, 3.0)])
