import torch


def run(q, momentum, u, center, width, steps, step_size, nu):
    def slope(q):
        z = (q - center) / width
        return (nu + 1) * z / (width * (nu + z * z))

    def energy(q, p):
        z = (q - center) / width
        return (nu + 1) / 2 * torch.log1p(z * z / nu).sum(-1) + p.square().sum(-1) / 2

    here, p = q, momentum
    for _ in range(steps):
        p = p - step_size / 2 * slope(here)
        here = here + step_size * p
        p = p - step_size / 2 * slope(here)
    accepted = u.clamp_min(1e-10).log() < energy(q, momentum) - energy(here, p)
    return torch.where(accepted[:, None], here, q), accepted
