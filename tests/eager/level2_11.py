import torch.nn.functional as F


def run(x, w, bias, root):
    return F.linear(x, w[root], bias[root])
