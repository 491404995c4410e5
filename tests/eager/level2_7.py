import torch.nn.functional as F


def run(x, w_depth, w_point, cin, side):
    return F.conv1d(F.conv1d(x, w_depth[:, None], padding=side, groups=cin), w_point[:, :, None])
