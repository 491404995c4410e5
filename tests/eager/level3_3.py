import torch.nn.functional as F


def run(x, w, bias, channels):
    def conv(way):
        line = F.conv1d(way.flatten(2), w[:, None], bias, padding=1, groups=channels)
        return line.view(way.shape)

    turned = x.transpose(2, 3)
    across = conv(x) + conv(x.flip(3)).flip(3)
    down = conv(turned) + conv(turned.flip(3)).flip(3)
    return x + across + down.transpose(2, 3)
