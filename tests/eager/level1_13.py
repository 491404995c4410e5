import math

import torch

LOOP = "no operator chooses one after another: one sample after another"


def steps(samples):
    return samples


def run(point, batch, points, samples):
    far = point.new_full((batch, points), math.inf)
    last = torch.zeros(batch, 1, dtype=torch.int64, device=point.device)
    chosen = [last]
    for _ in range(samples - 1):
        seed = point.gather(1, last[:, :, None].expand(-1, 1, 3))
        far = torch.minimum(far, (point - seed).square().sum(-1)).scatter(1, last, -1.0)
        last = far.argmax(1, keepdim=True)
        chosen.append(last)
    return torch.cat(chosen, 1)
