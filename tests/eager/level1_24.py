import torch
import torch.nn.functional as F


def run(position, feature, weight, bias, voxel, batch, atoms, side, channels):
    middle = torch.div(position.sum(1, keepdim=True), atoms, rounding_mode="floor")
    cell = torch.div(position - middle, voxel, rounding_mode="floor") + side // 2
    x, y, z = cell.clamp(0, side - 1).unbind(-1)
    system = torch.arange(batch, device=position.device)[:, None]
    place = ((system * side + x) * side + y) * side + z
    value = F.linear(feature, weight, bias)
    grid = value.new_zeros(batch * side**3, channels).index_add_(0, place.flatten(), value.flatten(0, 1))
    return grid.view(batch, side, side, side, channels)
