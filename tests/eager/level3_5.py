import torch
import torch.nn.functional as F


def run(x, w_in, b_in, w_mid, b_mid, w_out, b_out, batch, steps):
    z = x
    for k in range(steps):
        t = x.new_full((batch, 1), (k + 0.5) / steps)
        a = F.silu(F.linear(torch.cat((z, t), -1), w_in, b_in))
        c = F.silu(F.linear(a, w_mid, b_mid))
        z = z + F.linear(c, w_out, b_out) / steps
    return z
