def run(x, mask):
    return x.masked_fill(~mask, 0).sum(0)
