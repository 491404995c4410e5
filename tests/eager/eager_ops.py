"""What several modules share: library calls under the names that the problems use."""
import math

import torch
import torch.nn.functional as F


def owner_of(row_ptr, count):
    """The row of each of `count` edges of a CSR graph, int64."""
    rows = torch.arange(row_ptr.numel() - 1, device=row_ptr.device)
    return torch.repeat_interleave(rows, row_ptr.diff(), output_size=count)


def segment_softmax(score, owner, rows):
    """Softmax over the first axis among entries of one owner."""
    index = owner.view(-1, *[1] * (score.dim() - 1)).expand_as(score)
    top = score.new_zeros(rows, *score.shape[1:]).scatter_reduce(0, index, score, "amax", include_self=False)
    power = torch.exp(score - top.index_select(0, owner))
    total = torch.zeros_like(top).index_add(0, owner, power)
    return power / total.index_select(0, owner)


def attend(q, k, v, bias=None, causal=False):
    """softmax(q k^T / sqrt(hd) + bias) v over the last two axes; torch 1.13 has no call for it."""
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=causal)
    logit = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        bias = torch.full_like(logit, -math.inf).triu(1)
    return torch.softmax(logit if bias is None else logit + bias, -1) @ v


def split_heads(v, heads):
    """[.., n, heads*hd] -> [.., heads, n, hd]."""
    return v.unflatten(-1, (heads, -1)).transpose(-2, -3)


def join_heads(v):
    """[.., heads, n, hd] -> [.., n, heads*hd]."""
    return v.transpose(-2, -3).flatten(-2)


def layer_norm(v, gain, shift):
    return F.layer_norm(v, v.shape[-1:], gain, shift, 1e-5)


def turn_halves(v, angle):
    """Rotary embedding of [.., n, 2*pairs] by [n, pairs]."""
    cos, sin = angle.cos(), angle.sin()
    a, b = v.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def delta_rule(q, k, v, fade, beta):
    """The memory [batch, heads, kd, vd] fades by `fade` [batch, len, heads, 1 or kd], answers, is corrected and read, at each time."""
    q, k = (t * torch.rsqrt(t.square().sum(-1, keepdim=True) + 1e-6) for t in (q, k))
    memory = q.new_zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
    y = []
    for t in range(q.shape[1]):
        memory = fade[:, t, :, :, None] * memory
        answer = torch.einsum("bhc,bhce->bhe", k[:, t], memory)
        u = beta[:, t, :, None] * (v[:, t] - answer)
        memory = memory + k[:, t, :, :, None] * u[:, :, None]
        y.append(torch.einsum("bhc,bhce->bhe", q[:, t], memory))
    return torch.stack(y, 1)
