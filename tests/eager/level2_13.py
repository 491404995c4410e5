import torch
import torch.nn.functional as F


def run(x, gate, w, bias):
    peak = x.abs().max()
    step = peak / torch.full_like(peak, 127)            # by a number it would be a product with 1/127
    q = torch.round(x / step).clamp(-127, 127)
    return F.linear(torch.lerp(x, step * q, torch.sigmoid(gate)[..., None]), w, bias)
