import torch
import torch.nn.functional as F

from eager_ops import layer_norm


def run(msa, mask, norm_gain, norm_bias, w_side, b_side, w_out, b_out):
    x = layer_norm(msa, norm_gain, norm_bias)
    u, v = (mask[..., None] * F.linear(x, w, b) for w, b in zip(w_side, b_side))
    count = torch.einsum("bsi,bsj->bij", mask, mask).clamp_min(1)
    m = torch.einsum("bsie,bsjf->bijef", u, v).flatten(-2) / count[..., None]
    return F.linear(m, w_out.flatten(1), b_out)
