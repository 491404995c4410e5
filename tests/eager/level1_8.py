import math

import torch

from eager_ops import owner_of


def run(row_ptr, value, edges, k):
    by_value = value.sort(descending=True, stable=True)[1]
    order = by_value[owner_of(row_ptr, edges)[by_value].sort(stable=True)[1]]
    place = row_ptr[:-1, None] + torch.arange(k, device=value.device)
    place = torch.where(place < row_ptr[1:, None], place, edges)
    edge = torch.cat((order, order.new_full((1,), -1)))[place]
    return torch.cat((value, value.new_full((1,), -math.inf)))[edge], edge
