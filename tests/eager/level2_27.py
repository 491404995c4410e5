def run(g, p, v, momentum, rate, ranks):
    v_next = momentum * v + g.mean(0).view(ranks, -1)
    return v_next, p - rate * v_next
