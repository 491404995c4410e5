import torch
import torch.nn.functional as F


def run(x, w1, b1, w2, b2):
    h = F.silu(torch.baddbmm(b1[:, None], x, w1.transpose(1, 2)))
    return torch.baddbmm(b2.roll(-1, 0)[:, None], h, w2.roll(-1, 0).transpose(1, 2))
