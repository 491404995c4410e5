import math

import torch
import torch.nn.functional as F

from eager_ops import attend, join_heads, layer_norm, split_heads


def run(msa, pair, mask, norm_gain, norm_bias, w_qkv, w_bias, w_gate, b_gate, w_out, b_out, batch, depth, heads):
    x = layer_norm(msa, norm_gain, norm_bias)
    q, k, v = (split_heads(F.linear(x, w), heads).flatten(0, 1) for w in w_qkv)
    bias = F.linear(pair, w_bias).permute(0, 3, 1, 2)[:, None]
    bias = bias.masked_fill(mask[:, :, None, None] == 0, -math.inf).flatten(0, 1)
    o = join_heads(attend(q, k, v, bias)).unflatten(0, (batch, depth))
    return F.linear(o * torch.sigmoid(F.linear(x, w_gate, b_gate)), w_out, b_out)
