import math

import torch
import torch.nn.functional as F

from eager_ops import attend, join_heads, layer_norm, split_heads


def run(nodes, pair, mask, norm_gain, norm_bias, w_qkv, w_rel, b_rel, w_bias, w_out, heads):
    x = layer_norm(nodes, norm_gain, norm_bias)
    q, k, v = (split_heads(F.linear(x, w), heads) for w in w_qkv)
    bias = F.linear(F.silu(F.linear(pair, w_rel, b_rel)), w_bias).permute(0, 3, 1, 2)
    related = (mask != 0)[:, None]
    o = attend(q, k, v, bias.masked_fill(~related, -math.inf))
    o = torch.where(related.any(-1, keepdim=True), o, torch.zeros_like(o))
    return nodes + F.linear(join_heads(o), w_out)
