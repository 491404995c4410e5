def run(u0, alpha, steps):
    u = u0.clone()
    for _ in range(steps):
        inside = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = inside + alpha * (around - 4 * inside)
    return u
