import torch.nn.functional as F


def run(x, w, taps, dilation):
    return F.conv1d(F.pad(x, ((taps - 1) * dilation, 0)), w, dilation=dilation)
