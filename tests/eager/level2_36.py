import math

import torch
import torch.nn.functional as F

from eager_ops import layer_norm


def run(node, pair, rot, trans, norm_gain, norm_bias, w_qkv, w_qp, w_kp, w_vp, w_pair, w_near, w_out, b_out,
        heads, hd, asked, told):
    x = layer_norm(node, norm_gain, norm_bias)
    q, k, v = (F.linear(x, w).unflatten(-1, (heads, hd)) for w in w_qkv)

    def placed(w, points):
        local = F.linear(x, w).unflatten(-1, (heads, points, 3))
        return torch.einsum("bnxy,bnhpy->bnhpx", rot, local) + trans[:, :, None, None]

    a, e, g = placed(w_qp, asked), placed(w_kp, asked), placed(w_vp, told)
    far = (a[:, :, None] - e[:, None]).square().sum((-1, -2))
    logit = torch.einsum("bihd,bjhd->bijh", q, k) / math.sqrt(hd) + F.linear(pair, w_pair)
    m = torch.softmax(logit - 0.5 * F.softplus(w_near) * far, 2)
    o = torch.einsum("bijh,bjhd->bihd", m, v).flatten(2)
    moved = torch.einsum("bijh,bjhpx->bihpx", m, g) - trans[:, :, None, None]
    r = torch.einsum("bnxy,bnhpx->bnhpy", rot, moved).flatten(2)
    return F.linear(torch.cat((o, r), -1), w_out, b_out)
