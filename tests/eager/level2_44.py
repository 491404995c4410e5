import math

import torch


def run(mu, logvar, logit, pick, noise, dim):
    chosen = pick.long()[:, None, None].expand(-1, 1, dim)
    z = mu.gather(1, chosen)[:, 0] + torch.exp(logvar.gather(1, chosen)[:, 0] / 2) * noise
    terms = (z[:, None] - mu).square() / logvar.exp() + logvar + math.log(2 * math.pi)
    return z, torch.logsumexp(torch.log_softmax(logit, 0) - terms.sum(-1) / 2, -1)
