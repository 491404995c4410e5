import torch

LOOP = "no operator runs a recurrence: one diagonal after another"


def steps(m, n):
    return m + n - 1


def run(s, gap, temp, batch, m, n):
    h = s.new_zeros(batch, m + 1, n + 1)
    for d in range(2, m + n + 1):
        i = torch.arange(max(1, d - n), min(m, d - 1) + 1, device=s.device)
        j = d - i
        match = h[:, i - 1, j - 1] + s[:, i - 1, j - 1]
        choices = torch.stack((torch.zeros_like(match), match, h[:, i - 1, j] - gap, h[:, i, j - 1] - gap))
        h[:, i, j] = temp * torch.logsumexp(choices / temp, 0)
    return h.amax((1, 2))
