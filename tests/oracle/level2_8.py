"""Golden vectors of level2/8: exact rational scores, a sort of all experts, softmax in decimals."""

from fractions import Fraction

import golden


def powers_of(scores):
    """exp of each score, in decimals."""
    return [(golden.exact(s.numerator) / golden.exact(s.denominator)).exp() for s in scores]


def case(seed, tokens, hidden, experts, alpha, draw):
    rng = golden.generator(seed)
    logits, state, ground = (draw(rng, tokens * experts), draw(rng, tokens * hidden), draw(rng, experts * hidden))
    expert, weight = [], []
    for t in range(tokens):
        scores = []
        for e in range(experts):
            dot = sum(Fraction(state[t * hidden + d]) * Fraction(ground[e * hidden + d]) for d in range(hidden))
            scores.append(Fraction(logits[t * experts + e]) + Fraction(alpha) * dot)
        chosen = sorted(range(experts), key=lambda e: (-scores[e], e))[:2]
        powers = powers_of([scores[e] for e in chosen])
        expert += chosen
        weight += [float(p / sum(powers)) for p in powers]
    return {"dims": {"tokens": tokens, "hidden": hidden, "experts": experts}, "scalars": {"alpha": alpha},
            "inputs": {"logits": logits, "state": state, "ground": ground},
            "expected": {"expert": expert, "weight": weight}}


def integers(rng, count):
    return [float(rng.randint(-1, 1)) for _ in range(count)]


golden.write("level2/8", [case(1, 7, 5, 4, 0.375, golden.normals), case(2, 9, 3, 6, 0.25, integers),
                          case(3, 1, 1, 2, 0.5, golden.normals), case(4, 3, 17, 35, 0.1875, golden.normals)])
