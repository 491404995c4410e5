import torch.nn.functional as F


def run(x, w, channels, taps):
    left = (taps - 1) // 2
    return F.conv1d(F.pad(x, (left, taps - 1 - left)), w[:, None], groups=channels)
