import torch


def run(x, weight, mean, cov, dim):
    factor = torch.linalg.cholesky(cov)
    away = (x - mean[:, None]).transpose(1, 2)
    far = torch.linalg.solve_triangular(factor, away, upper=False).square().sum(1)
    size = factor.diagonal(dim1=1, dim2=2).log().sum(-1)
    resp = torch.softmax((weight.log() - size)[:, None] - far / 2, 0)
    count = 1e-3 + resp.sum(1)
    new_mean = resp @ x / count[:, None]
    moved = x - new_mean[:, None]
    spread = (resp[..., None] * moved).transpose(1, 2) @ moved / count[:, None, None]
    return resp.T, count / count.sum(), new_mean, spread + 1e-4 * torch.eye(dim, device=x.device)
