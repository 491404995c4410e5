import torch
import torch.nn.functional as F


def run(z, w, u, bias):
    log_det = z.new_zeros(z.shape[0])
    for wf, uf, b in zip(w, u, bias):
        c = torch.dot(wf, uf)
        shift = uf + (F.softplus(c) - 1 - c) * wf / torch.dot(wf, wf)
        t = torch.tanh(z @ wf + b)
        z = z + shift * t[:, None]
        log_det = log_det + torch.log(torch.abs(1 + (1 - t * t) * torch.dot(wf, shift)) + 1e-8)
    return z, log_det
