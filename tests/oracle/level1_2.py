"""Golden vectors of level1/2: softmax in 50-digit decimals, without taking a maximum out."""

import golden


def case(seed, degrees, mean, std):
    rng = golden.generator(seed)
    row_ptr, alpha = [0], []
    score = golden.normals(rng, sum(degrees), mean, std)
    for degree in degrees:
        row_ptr.append(row_ptr[-1] + degree)
        powers = [golden.exact(s).exp() for s in score[row_ptr[-2]:row_ptr[-1]]]
        alpha += [float(p / sum(powers)) for p in powers]
    return {"dims": {"rows": len(degrees), "edges": len(score)}, "scalars": {},
            "inputs": {"row_ptr": row_ptr, "score": score}, "expected": {"alpha": alpha}}


golden.write("level1/2", [case(1, [4, 0, 1, 9, 2], 0, 3), case(2, [0], 0, 1), case(3, [0, 17, 0], 80, 30),
                          case(4, [1, 1, 1], -200, 5)])
