import torch


def run(x, noise, u, center, width, step):
    proposal = x + step * noise
    before = 0.5 * ((x - center) / width).square().sum(-1)
    after = 0.5 * ((proposal - center) / width).square().sum(-1)
    accepted = u.clamp_min(1e-10).log() < before - after
    return torch.where(accepted[:, None], proposal, x), accepted
