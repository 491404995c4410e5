"""Golden vectors of level1/21: fade = cos(angle/2)^2 by its series, all in 50-digit decimals."""

import golden
import turns


def case(seed, batch, atoms, terms, cutoff, sharpness, low=0.0, high=9.0):
    rng = golden.generator(seed)
    cutoff, sharpness = golden.f32(cutoff), golden.f32(sharpness)
    distance = [golden.f32(rng.uniform(low, high)) for _ in range(batch * atoms * atoms)]
    center = [golden.f32(rng.uniform(0, cutoff)) for _ in range(terms)]
    basis = []
    for d in distance:
        fade = golden.exact(0)
        if d < cutoff:
            fade = turns.turn(turns.PI / 2 * golden.exact(d) / golden.exact(cutoff))[0] ** 2
        basis += [float(fade * (-golden.exact(sharpness) * (golden.exact(d) - golden.exact(c)) ** 2).exp()) for c in center]
    return {"dims": {"batch": batch, "atoms": atoms, "terms": terms}, "scalars": {"cutoff": cutoff, "sharpness": sharpness},
            "inputs": {"distance": distance, "center": center}, "expected": {"basis": basis}}


golden.write("level1/21", [case(1, 2, 3, 5, 5, 0.7), case(2, 1, 1, 1, 4, 0.02), case(3, 1, 4, 7, 7.9, 2, 6, 9),
                           case(4, 3, 2, 3, 6, 30, 0, 2)])
