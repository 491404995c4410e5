import torch
import torch.nn.functional as F


def run(s, v, w_s, bias_s, w_g, bias_g, w_v):
    feature = torch.cat((s, torch.linalg.vector_norm(v, dim=-1)), -1)
    gate = torch.sigmoid(F.linear(feature, w_g, bias_g))
    return F.linear(feature, w_s, bias_s), gate[:, :, None] * torch.einsum("oi,nix->nox", w_v, v)
