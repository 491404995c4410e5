"""Golden vectors of level3/13: one sample after the other in 50-digit decimals."""

import golden
from layers import linear, vectors


def relu(v):
    return [max(a, golden.exact(0)) for a in v]


def case(seed, batch, data, extra, hidden, latent):
    rng = golden.generator(seed)
    draw = lambda count, std=1.0: golden.normals(rng, count, 0, std)
    weight = lambda rows, columns, gain=1.0: draw(rows * columns, gain * columns ** -0.5)
    inputs = {"x": draw(batch * data), "cond": draw(batch * extra), "noise": draw(batch * latent),
              "w_in": weight(hidden, data + extra, 1.4), "b_in": draw(hidden, 0.3),
              "w_head": weight(2 * latent, hidden), "b_head": draw(2 * latent, 0.3),
              "w_mid": weight(hidden, latent + extra, 1.4), "b_mid": draw(hidden, 0.3),
              "w_out": weight(data, hidden), "b_out": draw(data, 0.3)}
    widths = {"x": data, "cond": extra, "noise": latent, "w_in": data + extra, "b_in": hidden, "w_head": hidden,
              "b_head": 2 * latent, "w_mid": latent + extra, "b_mid": hidden, "w_out": hidden, "b_out": data}
    t = {name: vectors(inputs[name], width) for name, width in widths.items()}
    recon, kl = [], []
    for x, cond, noise in zip(t["x"], t["cond"], t["noise"]):
        both = linear(t["w_head"], relu(linear(t["w_in"], x + cond, t["b_in"][0])), t["b_head"][0])
        mu, logvar = both[:latent], both[latent:]
        z = [m + (v / 2).exp() * n for m, v, n in zip(mu, logvar, noise)]
        guess = linear(t["w_out"], relu(linear(t["w_mid"], z + cond, t["b_mid"][0])), t["b_out"][0])
        recon.append(sum((a - b) ** 2 for a, b in zip(guess, x)))
        kl.append(-sum(1 + v - m * m - v.exp() for m, v in zip(mu, logvar)) / 2)
    loss = (sum(recon) + sum(kl)) / batch
    return {"dims": {"batch": batch, "data": data, "extra": extra, "hidden": hidden, "latent": latent}, "scalars": {},
            "inputs": inputs,
            "expected": {"loss": [float(loss)], "recon": [float(v) for v in recon], "kl": [float(v) for v in kl]}}


golden.write("level3/13", [case(1, 5, 6, 2, 7, 3), case(2, 1, 1, 1, 1, 1), case(3, 3, 9, 4, 12, 2), case(4, 70, 2, 1, 3, 1)])
