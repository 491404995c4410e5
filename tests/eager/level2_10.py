import math

import torch
import torch.nn.functional as F

from eager_ops import layer_norm


def run(nodes, pair, mask, w_own, w_other, w_edge, b_in, w_out, b_out, norm_gain, norm_bias):
    own, other = F.linear(nodes, w_own, b_in)[:, :, None], F.linear(nodes, w_other)[:, None]
    m = F.linear(F.silu(own + other + F.linear(pair, w_edge)), w_out, b_out)
    related = (mask != 0)[..., None]
    t = layer_norm(m.masked_fill(~related, -math.inf).amax(2), norm_gain, norm_bias)
    return torch.where(related.any(2), nodes + t, nodes)
