import torch


def run(point, quat, shift, batch):
    w, x, y, z = quat.unbind(-1)
    s = 2 / quat.square().sum(-1)
    turn = torch.stack((
        1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
        s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x),
        s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)), -1).view(batch, 3, 3)
    return torch.baddbmm(shift[:, None], point, turn.transpose(1, 2))
