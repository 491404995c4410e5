import torch
import torch.nn.functional as F


def run(x, cond, noise, w_in, b_in, w_head, b_head, w_mid, b_mid, w_out, b_out):
    e = F.relu(F.linear(torch.cat((x, cond), -1), w_in, b_in))
    mu, logvar = F.linear(e, w_head[0], b_head[0]), F.linear(e, w_head[1], b_head[1])
    z = mu + torch.exp(0.5 * logvar) * noise
    d = F.relu(F.linear(torch.cat((z, cond), -1), w_mid, b_mid))
    recon = (F.linear(d, w_out, b_out) - x).square().sum(-1)
    kl = 0.5 * (mu.square() + logvar.exp() - 1 - logvar).sum(-1)
    return (recon + kl).mean(), recon, kl
