import math

import torch


def run(x, center, width, n):
    size = x.square().sum(-1)
    far = (size[:, None] - 2 * x @ x.T + size).clamp_min(0)
    pairs = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
    h = far[pairs].median() / math.log(n + 1)           # of an even number the lower one
    kernel = torch.exp(-far / h)
    score = (center - x) / width.square()
    pull = x * kernel.sum(1, keepdim=True) - kernel @ x
    return (kernel @ score + 2 / h * pull) / n
