import torch


def run(theta, link):
    angle = theta.cumsum(1)
    return (link[:, None] * torch.stack((angle.cos(), angle.sin()), -1)).cumsum(1)
