"""Golden vectors of level1/31: each word is a set of bit numbers; the size of the union."""

import golden


def case(seed, ranks, words, share):
    rng = golden.generator(seed)
    sets = [{bit for bit in range(32) if rng.random() < share} for _ in range(ranks * words)]
    return {"dims": {"ranks": ranks, "words": words}, "scalars": {},
            "inputs": {"word": [sum(2 ** bit for bit in one) for one in sets]},
            "expected": {"y": [len(set().union(*sets[i::words])) for i in range(words)]}}


golden.write("level1/31", [case(1, 4, 11, 0.3), case(2, 1, 1, 0.5), case(3, 9, 6, 0.02), case(4, 3, 5, 1), case(5, 2, 4, 0)])
