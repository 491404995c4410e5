import torch
import torch.nn.functional as F

from eager_ops import attend, join_heads, layer_norm, split_heads


def run(msa, pair, gain_msa, shift_msa, w_qkv, w_gate, b_gate, w_out, b_out, w_side, b_side, w_mean, b_mean,
        gain_pair, shift_pair, w_tri, b_tri, gain_tri, shift_tri, w_up, b_up, w_tell, b_tell, batch, depth, heads):
    x = layer_norm(msa, gain_msa[0], shift_msa[0])
    q, k, v = (split_heads(F.linear(x, w), heads).flatten(0, 1) for w in w_qkv)
    o = join_heads(attend(q, k, v)).unflatten(0, (batch, depth))
    msa_out = msa + F.linear(o * torch.sigmoid(F.linear(x, w_gate, b_gate)), w_out, b_out)

    l = layer_norm(msa_out, gain_msa[1], shift_msa[1])
    u, w = F.linear(l, w_side[0], b_side[0]), F.linear(l, w_side[1], b_side[1])
    m = torch.einsum("bsie,bsjf->bijef", u, w).flatten(-2) / depth
    z = pair + F.linear(m, w_mean, b_mean)

    r = layer_norm(z, gain_pair, shift_pair)
    a, g = F.linear(r, w_tri[0], b_tri[0]), F.linear(r, w_tri[1], b_tri[1])
    t = layer_norm(torch.einsum("bikh,bjkh->bijh", a, g), gain_tri, shift_tri)
    pair_out = z + F.linear(t, w_up, b_up) * torch.sigmoid(F.linear(r, w_tell, b_tell))
    return msa_out, pair_out
