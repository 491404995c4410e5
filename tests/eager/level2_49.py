import torch.nn.functional as F


def run(x):
    return F.gelu(x).sum(0)
