"""Groups of docs/problem_format.md with torch: tensors that agree with each other."""
import torch


def split(parts, total, generator, skew=0, empty=0, min=0, max=None, align=1):
    """`parts` non-negative int64 that sum to `total`, in proportion to exp(skew * normal); a share `empty` is 0, the
    others are multiples of `align` in min .. max."""
    parts, units = int(parts), int(total) // int(align)
    least, most = -(-int(min) // int(align)), (units if max is None else int(max) // int(align))
    weight = torch.exp(skew * torch.randn(parts, generator=generator, dtype=torch.float64))
    weight[torch.rand(parts, generator=generator) < empty] = 0
    if least * parts > units or float(weight.sum()) == 0:
        weight = torch.ones_like(weight)
    base = torch.where(weight > 0, least, 0)
    rest = units - int(base.sum())
    share = torch.floor(weight / weight.sum() * rest).long() if rest > 0 else torch.zeros(parts, dtype=torch.int64)
    out = (base + share).clamp(max=most)
    while int(out.sum()) < units:  # what rounding and the cap left over, one each from a random place
        free = torch.nonzero((weight > 0) & (out < most))[:, 0]
        if free.numel() == 0:
            free = torch.nonzero(out < most)[:, 0]
        order = free[torch.randperm(free.numel(), generator=generator)]
        out[order[:units - int(out.sum())]] += 1
    return out * int(align)


def offsets_of(lengths):
    return torch.cat((lengths.new_zeros(1), lengths.cumsum(0)))


class _Group:
    def __init__(self, device, seed):
        self.device = device
        self.generator = torch.Generator().manual_seed(seed)
        self.parts = {}

    def part(self, name, shape):
        if name == "table" and len(shape) == 2:
            return self.table(shape).to(self.device)
        return self.parts[name].to(self.device)


class Ragged(_Group):
    def __init__(self, device, seed, parts, total, **rule):
        super().__init__(device, seed)
        lengths = split(parts, total, self.generator, **rule)
        owner = torch.repeat_interleave(torch.arange(int(parts)), lengths)
        self.parts = {"offsets": offsets_of(lengths), "lengths": lengths, "owner": owner}


class Csr(_Group):
    """Columns of a row: one from each of as many equal stretches, so distinct and ascending where they fit."""

    def __init__(self, device, seed, rows, cols, nnz, skew=0, empty=0, sorted=1, unique=1, symmetric=0):
        super().__init__(device, seed)
        rows, cols, nnz = int(rows), int(cols), int(nnz)
        if symmetric:
            key = self.pairs(rows, nnz, skew)
            degree, col = torch.bincount(key // cols, minlength=rows), key % cols
            self.parts = {"offsets": offsets_of(degree), "degree": degree, "owner": key // cols, "col": col,
                          "order": torch.randperm(nnz, generator=self.generator)}
            return
        degree = split(rows, nnz, self.generator, skew=skew, empty=empty, max=cols if unique else None)
        offsets = offsets_of(degree)
        owner = torch.repeat_interleave(torch.arange(rows), degree)
        place, length = torch.arange(nnz) - offsets[owner], degree[owner]
        low, high = place * cols // length, (place + 1) * cols // length
        draw = torch.rand(nnz, generator=self.generator, dtype=torch.float64)
        col = (low + (draw * (high - low)).long()).clamp(max=cols - 1)
        order = torch.randperm(nnz, generator=self.generator)
        self.parts = {"offsets": offsets, "degree": degree, "owner": owner, "col": col, "order": order}


    def pairs(self, n, nnz, skew):
        """row * n + column of a pattern equal to its transpose; one place on the diagonal if nnz is odd."""
        reach = torch.exp(skew * torch.randn(n, generator=self.generator, dtype=torch.float64)).cumsum(0)
        found = torch.zeros(0, dtype=torch.int64)
        while len(found) < nnz // 2:
            draw = torch.rand(nnz // 2 + 64, generator=self.generator, dtype=torch.float64) * reach[-1]
            a = torch.searchsorted(reach, draw, right=True).clamp(max=n - 1)
            b = torch.randint(0, n, a.shape, generator=self.generator)
            key = torch.minimum(a, b) * n + torch.maximum(a, b)
            found = torch.unique(torch.cat((found, key[a != b])))
        found = found[torch.randperm(len(found), generator=self.generator)[:nnz // 2]]
        whole = torch.cat((found, found % n * n + found // n))
        if nnz % 2:
            whole = torch.cat((whole, torch.randint(0, n, (1,), generator=self.generator) * (n + 1)))
        return whole.sort()[0]


class Shuffle(_Group):
    def __init__(self, device, seed, n, batch=1):
        super().__init__(device, seed)
        forward = torch.rand(int(batch), int(n), generator=self.generator).argsort(1)
        self.parts = {"forward": forward, "inverse": forward.argsort(1)}


class Routing(_Group):
    def __init__(self, device, seed, tokens, experts, k=1, skew=0, empty=0):
        super().__init__(device, seed)
        tokens, experts, k = int(tokens), int(experts), int(k)
        weight = torch.exp(skew * torch.randn(experts, generator=self.generator))
        weight[torch.rand(experts, generator=self.generator) < empty] = 0
        weight[torch.nonzero(weight == 0)[:max(0, k - int((weight > 0).sum())), 0]] = 1
        if k == 1:
            draw = torch.rand(tokens, generator=self.generator, dtype=torch.float64)
            reach = weight.double().cumsum(0)
            expert = torch.searchsorted(reach, draw * reach[-1], right=True).clamp(max=experts - 1)[:, None]
        else:  # in parts: a table of tokens x experts may not fit
            expert = torch.cat([
                torch.multinomial(weight.expand(n, experts), k, generator=self.generator)
                for n in (min(4096, tokens - at) for at in range(0, tokens, 4096))])
        flat = expert.flatten()
        inverse = torch.sort(flat, stable=True)[1]
        load = torch.bincount(flat, minlength=experts)
        slot = torch.empty_like(inverse).scatter_(0, inverse, torch.arange(flat.numel()))
        self.parts = {"expert": expert, "slot": slot, "offsets": offsets_of(load), "inverse": inverse}


class Paged(_Group):
    def __init__(self, device, seed, seqs, total, page, pages, skew=0):
        super().__init__(device, seed)
        lengths = split(seqs, total, self.generator, skew=skew, min=min(1, int(total) // int(seqs)))
        self.used = -(-lengths // int(page))
        table = torch.randperm(int(pages), generator=self.generator)
        self.parts = {"lengths": lengths, "offsets": offsets_of(self.used), "table": table}

    def table(self, shape):
        out, offsets = torch.zeros(shape, dtype=torch.int64), self.parts["offsets"].tolist()
        for row, (a, b) in enumerate(zip(offsets, offsets[1:])):
            out[row, :b - a] = self.parts["table"][a:b]
        return out


KINDS = {"ragged": Ragged, "csr": Csr, "shuffle": Shuffle, "routing": Routing, "paged": Paged}
