import math

import torch


def run(distance, center, cutoff, sharpness):
    fade = torch.where(distance < cutoff, (torch.cos(distance * (math.pi / cutoff)) + 1) / 2, torch.zeros_like(distance))
    return fade[..., None] * torch.exp(-sharpness * (distance[..., None] - center).square())
