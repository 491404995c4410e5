import torch


def run(center, extent, triangle):
    corner = triangle - center[:, None]
    edge = corner.roll(-1, 1) - corner
    normal = torch.stack((-edge[..., 1], edge[..., 0]), -1)
    axis = torch.cat((torch.eye(2, device=center.device).expand(len(center), 2, 2), normal), 1)
    place = (axis[:, :, None] * corner[:, None]).sum(-1)
    reach = (axis.abs() * extent[:, None]).sum(-1)
    apart = (place.amin(2) > reach) | (place.amax(2) < -reach)
    return ~apart.any(1)
