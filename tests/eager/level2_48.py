import torch
import torch.nn.functional as F


def run(x, weight, noise, obs, u, move, see, jitter, spread, particles, state):
    p = F.linear(x, move) + jitter * noise
    miss = (F.linear(p, see) - obs[:, None]).square().sum(-1)
    w = torch.softmax(weight.log() - miss / (2 * spread * spread), -1)
    drawn = (torch.arange(particles, device=x.device) + u[:, None]) / particles
    ancestor = torch.searchsorted(w.cumsum(-1), drawn).clamp(max=particles - 1)
    chosen = p.gather(1, ancestor[..., None].expand(-1, -1, state))
    return torch.einsum("bi,bis->bs", w, p), ancestor.int(), chosen
