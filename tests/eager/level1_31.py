import functools

import torch


def run(word):
    v = functools.reduce(torch.bitwise_or, word)       # no operator reduces by or, none counts bits
    v = v - ((v >> 1) & 0x55555555)
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
    v = (v + (v >> 4)) & 0x0F0F0F0F
    return (v * 0x01010101) >> 24
