"""Layers on vectors of 50-digit decimals, shared by the oracle programs of whole blocks."""

import golden


def vectors(data, width):
    """A flat list of floats as vectors of decimals."""
    exact = [golden.exact(v) for v in data]
    return [exact[i:i + width] for i in range(0, len(exact), width)]


def dot(u, v):
    return sum((a * b for a, b in zip(u, v)), golden.exact(0))


def linear(matrix, v, bias=None):
    """matrix: rows of decimals."""
    out = [dot(row, v) for row in matrix]
    return out if bias is None else [a + b for a, b in zip(out, bias)]


def layer_norm(v, gain, bias):
    """By the mean of squares less the square of the mean, which 50 digits allow."""
    n = len(v)
    mean = sum(v) / n
    deviation = (dot(v, v) / n - mean * mean + golden.exact("1e-5")).sqrt()
    return [(a - mean) / deviation * g + b for a, g, b in zip(v, gain, bias)]


def sigmoid(v):
    return [a.exp() / (1 + a.exp()) for a in v]


def softmax(logits):
    powers = [a.exp() for a in logits]
    total = sum(powers)
    return [p / total for p in powers]


def times(u, v):
    return [a * b for a, b in zip(u, v)]


def floats(rows):
    """Vectors of decimals as one flat list, each rounded once."""
    return [float(a) for row in rows for a in row]
