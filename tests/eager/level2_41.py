import torch
import torch.nn.functional as F


def run(x, noise, w_in, b_in, w_head, b_head, w_mid, b_mid, w_out, b_out):
    e = F.relu(F.linear(x, w_in, b_in))
    mu, logvar = F.linear(e, w_head[0], b_head[0]), F.linear(e, w_head[1], b_head[1])
    z = mu + torch.exp(0.5 * logvar) * noise
    l = F.linear(F.relu(F.linear(z, w_mid, b_mid)), w_out, b_out)
    recon = F.binary_cross_entropy_with_logits(l, x, reduction="none").sum(-1)
    kl = 0.5 * (mu.square() + logvar.exp() - 1 - logvar).sum(-1)
    return -(recon + kl).mean(), recon, kl
