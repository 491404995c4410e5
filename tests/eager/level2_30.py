import torch
import torch.nn.functional as F

LOOP = "no operator runs a recurrence: one step after another"


def steps(len):
    return len


def run(x, w_delta, b_delta, w_u, w_v, a_log, skip, len):
    delta = F.softplus(F.linear(x, w_delta, b_delta))
    u, v = F.linear(x, w_u), F.linear(x, w_v)
    decay = torch.exp(-delta[..., None] * torch.exp(a_log))
    drive = (delta * x)[..., None] * u[:, :, None]
    h = torch.zeros_like(drive[:, 0])
    y = []
    for t in range(len):
        h = torch.addcmul(drive[:, t], decay[:, t], h)
        y.append(torch.einsum("bds,bs->bd", h, v[:, t]))
    return torch.stack(y, 1) + skip * x
