import torch


def run(token, place, tokens, choices, width):
    packed = token.new_empty(tokens * choices, width)
    return packed.index_copy_(0, place.flatten().long(), token.repeat_interleave(choices, 0))
