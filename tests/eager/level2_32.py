import math

import torch
import torch.nn.functional as F

from eager_ops import attend, layer_norm


def run(msa, mask, norm_gain, norm_bias, w_qkv, w_gate, b_gate, w_out, b_out, batch, res, heads, hd):
    x = layer_norm(msa, norm_gain, norm_bias)
    q, k, v = (F.linear(x, w).unflatten(-1, (heads, hd)).permute(0, 2, 3, 1, 4).flatten(0, 1) for w in w_qkv)
    keep = (mask != 0).transpose(1, 2).flatten(0, 1)[:, None, None]
    bias = torch.zeros_like(keep, dtype=x.dtype).masked_fill(~keep, -math.inf)
    o = attend(q, k, v, bias).unflatten(0, (batch, res)).permute(0, 3, 1, 2, 4).flatten(-2)
    return F.linear(o * torch.sigmoid(F.linear(x, w_gate, b_gate)), w_out, b_out)
