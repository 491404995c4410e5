"""Golden vectors of level1/30: each column is a list, sent ones as many copies of their first entry."""

import golden


def case(seed, rows, cols, share):
    rng = golden.generator(seed)
    x = golden.normals(rng, rows * cols)
    mask = [int(rng.random() < share) for _ in range(cols)]
    columns = [[x[j]] * rows if mask[j] else x[j::cols] for j in range(cols)]
    return {"dims": {"rows": rows, "cols": cols}, "scalars": {}, "inputs": {"x": x, "mask": mask},
            "expected": {"y": [v for row in zip(*columns) for v in row]}}


golden.write("level1/30", [case(1, 4, 7, 0.5), case(2, 1, 1, 1), case(3, 3, 10, 0.3), case(4, 9, 2, 0)])
