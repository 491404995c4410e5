import torch


def run(count, log_alpha):
    alpha = log_alpha.exp()
    total = alpha.sum()
    terms = torch.lgamma(count + alpha) - torch.lgamma(alpha)
    return torch.lgamma(total) - torch.lgamma(count.sum(-1) + total) + terms.sum(-1)
