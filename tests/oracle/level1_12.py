"""Golden vectors of level1/12: each expert has a queue of its tokens; the queues one after another are the buffer."""

import golden


def case(seed, tokens, experts, choices, width):
    rng = golden.generator(seed)
    token = golden.normals(rng, tokens * width)
    queues = [[] for _ in range(experts)]
    for t in range(tokens):
        for j, e in enumerate(rng.sample(range(experts), choices)):
            queues[e].append((t, j))
    packed, place = [], [0] * (tokens * choices)
    for t, j in sum(queues, []):
        place[t * choices + j] = len(packed) // width
        packed += token[t * width:(t + 1) * width]
    return {"dims": {"tokens": tokens, "experts": experts, "choices": choices, "width": width}, "scalars": {},
            "inputs": {"token": token, "place": place}, "expected": {"packed": packed}}


golden.write("level1/12", [case(1, 11, 4, 2, 5), case(2, 1, 1, 1, 1), case(3, 9, 7, 1, 4), case(4, 5, 3, 3, 2)])
