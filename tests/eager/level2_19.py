import torch.nn.functional as F


def run(x, w_in, b_in, w_depth, b_depth, w_out, b_out, hidden, side):
    u = F.conv1d(x, w_in[:, :, None], b_in)
    a = F.gelu(F.conv1d(u, w_depth[:, None], b_depth, padding=side, groups=hidden))
    return x + F.conv1d(a, w_out[:, :, None], b_out)
