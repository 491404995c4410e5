"""Golden vectors of level2/31: attention over the latents themselves, queries moved into their space, in 50-digit decimals."""

import golden
from layers import dot, softmax, vectors


def case(seed, batch, length, heads, hd, rank, std=1.0, mean=0.0):
    rng = golden.generator(seed)
    inputs = {"q": golden.normals(rng, batch * length * heads * hd, 0.0, std),
              "latent": golden.normals(rng, batch * length * rank, mean),
              "w_key": golden.normals(rng, rank * heads * hd, 0.0, 1.2 * rank ** -0.5),
              "w_value": golden.normals(rng, rank * heads * hd, 0.0, rank ** -0.5)}
    q, latent = vectors(inputs["q"], hd), vectors(inputs["latent"], rank)
    key, value = vectors(inputs["w_key"], hd), vectors(inputs["w_value"], hd)
    y = []
    for b in range(batch):
        for i in range(length):
            seen = latent[b * length:b * length + i + 1]
            for h in range(heads):
                asked = [dot(key[c * heads + h], q[(b * length + i) * heads + h]) for c in range(rank)]
                weights = softmax([dot(asked, one) / golden.exact(hd).sqrt() for one in seen])
                mean_latent = [dot(weights, [one[c] for one in seen]) for c in range(rank)]
                y += [dot(mean_latent, [value[c * heads + h][d] for c in range(rank)]) for d in range(hd)]
    return {"dims": {"batch": batch, "len": length, "heads": heads, "hd": hd, "latents": rank}, "scalars": {},
            "inputs": inputs, "expected": {"y": [float(v) for v in y]}}


golden.write("level2/31", [case(1, 2, 6, 2, 3, 4), case(2, 1, 1, 1, 1, 1), case(3, 1, 11, 3, 2, 5, 3.0, 2.0), case(4, 3, 2, 1, 7, 2)])
