import torch

LOOP = "no operator runs a recurrence: one step after another"


def steps(len):
    return len


def run(symbol, start, move, emit, len):
    change = torch.softmax(move, -1)
    told = torch.softmax(emit, -1).T.contiguous()
    last = torch.softmax(start, -1) * told.index_select(0, symbol[:, 0])
    loglik = 0
    for t in range(len):
        if t:
            last = last @ change * told.index_select(0, symbol[:, t])
        total = last.sum(-1, keepdim=True)
        loglik = loglik + total.log()
        last = last / total
    return loglik[:, 0], last
