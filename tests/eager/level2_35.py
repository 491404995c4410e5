import torch.nn.functional as F


def run(x, w, bias, gain, shift, groups, reach):
    return F.group_norm(F.conv1d(x, w, bias, padding=reach), groups, gain, shift, 1e-5)
