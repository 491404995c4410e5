def run(x):
    top, owner = x.max(0)
    return top, owner.int()
