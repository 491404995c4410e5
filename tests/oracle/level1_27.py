"""Golden vectors of level1/27: columns as lists, each carried to the place that asks for it."""

import golden


def case(seed, rows, cols):
    rng = golden.generator(seed)
    x = golden.normals(rng, rows * cols)
    source = rng.sample(range(cols), cols)
    columns = [x[j::cols] for j in range(cols)]
    place = {taken: j for j, taken in enumerate(source)}
    moved = [None] * cols
    for j, column in enumerate(columns):
        moved[place[j]] = column
    return {"dims": {"rows": rows, "cols": cols}, "scalars": {}, "inputs": {"x": x, "source": source},
            "expected": {"y": [v for row in zip(*moved) for v in row]}}


golden.write("level1/27", [case(1, 4, 7), case(2, 1, 1), case(3, 3, 10), case(4, 9, 2)])
