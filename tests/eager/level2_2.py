import torch


def run(x, w, bias, ranks):
    y = torch.bmm(x, w.transpose(1, 2)).sum(0) + bias
    return y.expand(ranks, -1, -1).contiguous()
