"""Cosine, sine and the exact GELU to more than 40 digits, as decimals."""

import decimal

import golden


def arctan_inverse(n, terms=60):
    return sum(golden.exact((-1) ** k) / ((2 * k + 1) * golden.exact(n) ** (2 * k + 1)) for k in range(terms))


PI = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))       # Machin


def turn(angle):
    """(cosine, sine): the series after whole turns are taken out."""
    x = golden.exact(angle)
    x -= 2 * PI * (x / (2 * PI)).to_integral_value(decimal.ROUND_HALF_EVEN)
    term, parts = golden.exact(1), [golden.exact(0), golden.exact(0)]
    for n in range(1, 60):
        parts[(n - 1) % 2] += term if (n - 1) % 4 < 2 else -term
        term = term * x / n
    return parts


def gelu(v):
    """v times the normal distribution's integral up to v, from the alternating series of erf; for |v| < 8."""
    z = v / golden.exact(2).sqrt()
    term, total = z, golden.exact(0)
    for n in range(300):
        total += term / (2 * n + 1)
        term = -term * z * z / (n + 1)
    return v / 2 * (1 + 2 * total / PI.sqrt())
