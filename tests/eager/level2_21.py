import torch
import torch.nn.functional as F

from eager_ops import layer_norm


def run(z, mask, norm_in_gain, norm_in_bias, w_in, b_in, norm_out_gain, norm_out_bias, w_out, b_out, w_gate, b_gate):
    x = layer_norm(z, norm_in_gain, norm_in_bias)
    p = [F.linear(x, w, b) for w, b in zip(w_in, b_in)]
    a = mask[..., None] * p[0] * torch.sigmoid(p[1])
    g = mask[..., None] * p[2] * torch.sigmoid(p[3])
    t = layer_norm(torch.einsum("bkih,bkjh->bijh", a, g), norm_out_gain, norm_out_bias)
    return F.linear(t, w_out, b_out) * torch.sigmoid(F.linear(z, w_gate, b_gate))
