"""Golden vectors of sci/heat2d: exact rational arithmetic on a dictionary of cells."""

from fractions import Fraction

import golden


def advance(field, ny, nx, alpha):
    result = dict(field)
    for y in range(1, ny - 1):
        for x in range(1, nx - 1):
            around = field[y - 1, x] + field[y + 1, x] + field[y, x - 1] + field[y, x + 1]
            result[y, x] = (1 - 4 * alpha) * field[y, x] + alpha * around
    return result


def case(seed, ny, nx, steps, alpha):
    rng = golden.generator(seed)
    alpha = golden.f32(alpha)
    u0 = golden.normals(rng, ny * nx)
    field = {(y, x): Fraction(u0[y * nx + x]) for y in range(ny) for x in range(nx)}
    for _ in range(steps):
        field = advance(field, ny, nx, Fraction(alpha))
    return {"dims": {"ny": ny, "nx": nx, "steps": steps}, "scalars": {"alpha": alpha}, "inputs": {"u0": u0},
            "expected": {"u": [float(field[y, x]) for y in range(ny) for x in range(nx)]}}


golden.write("sci/heat2d", [case(1, 7, 9, 5, 0.21), case(2, 4, 3, 0, 0.1), case(3, 3, 6, 1, 0.15), case(4, 1, 4, 3, 0.2),
                            case(5, 19, 23, 6, 0.12)])
