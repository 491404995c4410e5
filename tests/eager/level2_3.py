import torch
import torch.nn.functional as F

from eager_ops import attend, join_heads, split_heads, turn_halves


def run(x, context, w_q, w_kv, w_out, inv_freq, queries, keys, heads):
    angle = torch.arange(max(queries, keys), device=x.device).float()[:, None] * inv_freq
    q = turn_halves(split_heads(F.linear(x, w_q), heads), angle[:queries])
    k = turn_halves(split_heads(F.linear(context, w_kv[0]), heads), angle[:keys])
    v = split_heads(F.linear(context, w_kv[1]), heads)
    return F.linear(join_heads(attend(q, k, v)), w_out)
