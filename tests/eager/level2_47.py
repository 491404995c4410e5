import torch.nn.functional as F


def run(x, w, bias):
    return F.linear(x.transpose(0, 1).flatten(1), w, bias)
