import torch

LOOP = "no operator runs a recurrence: one step after another"


def steps(length):
    return length


def run(a, b, length):
    h = torch.empty_like(b)
    state = torch.zeros_like(b[:, 0])
    for t in range(length):
        state = torch.addcmul(b[:, t], a[:, t], state)
        h[:, t] = state
    return h
