import torch
import torch.nn.functional as F

# A group of one value has variance 0: the operator's x * scale + offset cancels numbers of several hundred.
ALLOWED = 1e-3


def run(x, gain, shift, groups):
    return F.silu(torch.group_norm(x, groups, gain, shift, 1e-5))  # F.group_norm refuses such a group
