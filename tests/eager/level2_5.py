import torch.nn.functional as F


def run(x, gain, shift, w, bias, side, dilation):
    a = F.gelu(F.layer_norm(x, x.shape[1:], gain, shift, 1e-5))
    return x + F.conv1d(a, w, bias, padding=side * dilation, dilation=dilation)
