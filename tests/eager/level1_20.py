import torch

from eager_ops import turn_halves


def run(q, k, inv_freq, start, length):
    place = torch.arange(start, start + length, device=q.device).float()
    angle = place[:, None] * inv_freq
    return turn_halves(q, angle), turn_halves(k, angle)
