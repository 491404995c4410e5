import torch.nn.functional as F


def run(x, gain, shift, w, bias):
    h = x
    for i, (g, s, taps, b) in enumerate(zip(gain, shift, w, bias)):
        a = F.gelu(F.layer_norm(h, h.shape[1:], g, s, 1e-5))
        h = x + F.conv1d(a, taps, b, padding=2**i, dilation=2**i)
    return h
