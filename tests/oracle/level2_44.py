"""Golden vectors of level2/44: the mixture's density as it stands, a product of densities for each part, in 50-digit decimals."""

import golden
from turns import PI


def density(v, mean, logvar):
    var = golden.exact(logvar).exp()
    return (-(v - golden.exact(mean)) ** 2 / (2 * var)).exp() / (2 * PI * var).sqrt()


def case(seed, batch, parts, dim, mean=0.3, spread=0.3):
    rng = golden.generator(seed)
    mu, logvar = golden.normals(rng, batch * parts * dim, 0, mean), golden.normals(rng, batch * parts * dim, -0.3, spread)
    logit, noise = golden.normals(rng, parts), golden.normals(rng, batch * dim)
    pick = [rng.randrange(parts) for _ in range(batch)]
    powers = [golden.exact(v).exp() for v in logit]
    z, log_q = [], []
    for b in range(batch):
        row = lambda data, k: data[(b * parts + k) * dim:(b * parts + k + 1) * dim]
        own = [golden.exact(m) + (golden.exact(v) / 2).exp() * golden.exact(n)
               for m, v, n in zip(row(mu, pick[b]), row(logvar, pick[b]), noise[b * dim:])]
        total = golden.exact(0)
        for k in range(parts):
            product = powers[k] / sum(powers)
            for v, m, l in zip(own, row(mu, k), row(logvar, k)):
                product *= density(v, m, l)
            total += product
        z += [float(v) for v in own]
        log_q.append(float(total.ln()))
    return {"dims": {"batch": batch, "parts": parts, "dim": dim}, "scalars": {},
            "inputs": {"mu": mu, "logvar": logvar, "logit": logit, "pick": pick, "noise": noise},
            "expected": {"z": z, "log_q": log_q}}


golden.write("level2/44", [case(1, 5, 3, 4), case(2, 1, 1, 1), case(3, 4, 2, 9, 4.0), case(4, 3, 7, 1, 0.3, 1.5)])
