import torch
import torch.nn.functional as F

LOOP = "no operator runs a recurrence: one step after another"


def steps(len):
    return len


def run(x, norm_gain, w_in, w_conv, b_conv, w_delta, b_delta, w_u, w_v, a_log, skip, w_out, len, inner):
    g = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * norm_gain
    p, z = F.linear(g, w_in[0]), F.linear(g, w_in[1])
    past = F.pad(p.transpose(1, 2), (3, 0))
    a = F.silu(F.conv1d(past, w_conv[:, None], b_conv, groups=inner)).transpose(1, 2)
    delta = F.softplus(F.linear(a, w_delta, b_delta))
    u, v = F.linear(a, w_u), F.linear(a, w_v)
    decay = torch.exp(-delta[..., None] * torch.exp(a_log))
    drive = (delta * a)[..., None] * u[:, :, None]
    h = torch.zeros_like(drive[:, 0])
    q = []
    for t in range(len):
        h = torch.addcmul(drive[:, t], decay[:, t], h)
        q.append(torch.einsum("bds,bs->bd", h, v[:, t]))
    q = torch.stack(q, 1) + skip * a
    return x + F.linear(q * F.silu(z), w_out)
