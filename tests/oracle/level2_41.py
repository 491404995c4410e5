"""Golden vectors of level2/41: one sample after the other, the cross-entropy from the two probabilities, in 50-digit decimals."""

import golden
from layers import linear, sigmoid, vectors


def relu(v):
    return [max(a, golden.exact(0)) for a in v]


def case(seed, batch, data, hidden, latent, bits=False):
    rng = golden.generator(seed)
    draw = lambda count, std=1.0: golden.normals(rng, count, 0, std)
    weight = lambda rows, columns, gain=1.0: draw(rows * columns, gain * columns ** -0.5)
    x = [golden.f32(rng.randrange(2) if bits else rng.random()) for _ in range(batch * data)]
    inputs = {"x": x, "noise": draw(batch * latent), "w_in": weight(hidden, data, 2), "b_in": draw(hidden, 0.3),
              "w_head": weight(2 * latent, hidden), "b_head": draw(2 * latent, 0.3), "w_mid": weight(hidden, latent, 1.4),
              "b_mid": draw(hidden, 0.3), "w_out": weight(data, hidden, 1.5), "b_out": draw(data, 0.3)}
    widths = {"x": data, "noise": latent, "w_in": data, "b_in": hidden, "w_head": hidden, "b_head": 2 * latent, "w_mid": latent,
              "b_mid": hidden, "w_out": hidden, "b_out": data}
    t = {name: vectors(inputs[name], width) for name, width in widths.items()}
    recon, kl = [], []
    for x, noise in zip(t["x"], t["noise"]):
        both = linear(t["w_head"], relu(linear(t["w_in"], x, t["b_in"][0])), t["b_head"][0])
        mu, logvar = both[:latent], both[latent:]
        z = [m + (v / 2).exp() * n for m, v, n in zip(mu, logvar, noise)]
        p = sigmoid(linear(t["w_out"], relu(linear(t["w_mid"], z, t["b_mid"][0])), t["b_out"][0]))
        recon.append(-sum(a * s.ln() + (1 - a) * (1 - s).ln() for a, s in zip(x, p)))
        kl.append(-sum(1 + v - m * m - v.exp() for m, v in zip(mu, logvar)) / 2)
    bound = -(sum(recon) + sum(kl)) / batch
    return {"dims": {"batch": batch, "data": data, "hidden": hidden, "latent": latent}, "scalars": {}, "inputs": inputs,
            "expected": {"bound": [float(bound)], "recon": [float(v) for v in recon], "kl": [float(v) for v in kl]}}


golden.write("level2/41", [case(1, 5, 6, 7, 3), case(2, 1, 1, 1, 1), case(3, 3, 9, 12, 2, True), case(4, 70, 2, 3, 1)])
