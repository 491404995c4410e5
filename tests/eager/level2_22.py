import torch

LOOP = "over clouds: the distances of all of them do not fit"


def steps(batch):
    return batch


def run(point, center, feature, radius2):
    pooled = []
    for p, c, f in zip(point, center, feature):
        d2 = c.square().sum(-1)[:, None] - 2 * c @ p.T + p.square().sum(-1)
        query, inside = torch.nonzero(d2 <= radius2, as_tuple=True)
        ball = f.index_select(0, inside)
        empty = f.new_zeros(c.shape[0], f.shape[1])
        pooled.append(empty.scatter_reduce(0, query[:, None].expand_as(ball), ball, "amax", include_self=False))
    return torch.stack(pooled)
