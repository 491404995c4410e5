"""Golden vectors of level1/26: the ratio of the densities itself, as 50-digit decimals; no logarithm, no maximum taken out."""

import golden


def case(seed, batch, samples, axes, components, spread, reach):
    rng = golden.generator(seed)
    spread = golden.f32(spread)
    x = golden.normals(rng, batch * samples * axes, 0, spread)
    center = golden.normals(rng, components * axes, 0, reach)
    log_share = golden.normals(rng, components, 0, 2)
    mean, ess = [], []
    for b in range(batch):
        weight, points = [], []
        for n in range(samples):
            p = [golden.exact(v) for v in x[(b * samples + n) * axes:(b * samples + n + 1) * axes]]
            density = sum(golden.exact(log_share[k]).exp()
                          * (-sum((v - golden.exact(c)) ** 2 for v, c in zip(p, center[k * axes:(k + 1) * axes])) / 2).exp()
                          for k in range(components))
            weight.append(density * (sum(v * v for v in p) / (2 * golden.exact(spread) ** 2)).exp())
            points.append(p)
        whole = sum(weight)
        mean += [float(sum(u * p[d] for u, p in zip(weight, points)) / whole) for d in range(axes)]
        ess.append(float(whole ** 2 / sum(u * u for u in weight)))
    return {"dims": {"batch": batch, "samples": samples, "axes": axes, "components": components}, "scalars": {"spread": spread},
            "inputs": {"x": x, "center": center, "log_share": log_share}, "expected": {"mean": mean, "ess": ess}}


golden.write("level1/26", [case(1, 3, 12, 4, 3, 1.4, 0.6), case(2, 1, 1, 1, 1, 2, 1), case(3, 2, 30, 2, 1, 3, 2),
                           case(4, 1, 25, 9, 5, 1.2, 1.5)])
