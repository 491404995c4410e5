import torch


def run(x, w_down, w_key, w_value, heads, hd):
    latent = x @ w_down
    return torch.stack((latent @ w_key, latent @ w_value), 2).unflatten(-1, (heads, hd))
