import torch


def run(k_new, v_new, cosine, sine, position, k_cache, v_cache, batch):
    place = position.long()
    cos, sin = cosine[place][:, :, None], sine[place][:, :, None]
    a, b = k_new[..., 0::2], k_new[..., 1::2]
    turned = torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    sequence = torch.arange(batch, device=place.device)[:, None]
    k_next, v_next = k_cache.clone(), v_cache.clone()
    k_next[sequence, place] = turned
    v_next[sequence, place] = v_new
    return k_next, v_next
