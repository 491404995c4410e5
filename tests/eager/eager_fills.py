"""Inputs of one shape by the fills of docs/problem_format.md, made with torch: the same distributions and structure as the
program's, not the same bits. The same `seed` gives the same tensors on one device."""
import ast
import math

import torch
import torch.nn.functional as F

import eager_groups

TYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "e4m3": getattr(torch, "float8_e4m3fn", None), "e5m2": getattr(torch, "float8_e5m2", None),
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
    "u64": torch.int64, "u32": torch.int32, "u16": torch.int16,  # the same bits: torch 1.13 has no others
    "c64": torch.complex64, "c128": torch.complex128,
}


class NoFill(Exception):
    """A fill that this file does not make."""


def _python(text):
    """C's `a ? b : c`, && and || as Python, parentheses included."""
    out, at = "", 0
    while at < len(text):
        if text[at] != "(":
            out, at = out + text[at], at + 1
            continue
        depth, end, parts = 1, at + 1, [""]
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if text[end] == "," and depth == 1:
                parts.append("")
            elif depth:
                parts[-1] += text[end]
            end += 1
        out, at = out + "(" + ",".join(_python(part) for part in parts) + ")", end
    return _choice(out.replace("&&", "&").replace("||", "|"))


def _choice(text):
    depth = 0
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "?" and depth == 0:
            nest = 0
            for end in range(at + 1, len(text)):
                nest += {"?": 1, ":": -1}.get(text[end], 0)
                if nest == -1:
                    return "where(%s,%s,%s)" % (text[:at], _choice(text[at + 1:end]), _choice(text[end + 1:]))
    return text


def _either(name):
    """A function of numbers and of tensors."""
    def call(*values):
        if not any(torch.is_tensor(v) for v in values):
            return getattr(math, name)(*values)
        device = next(v.device for v in values if torch.is_tensor(v))
        return getattr(torch, name)(*(torch.as_tensor(v, dtype=torch.float64, device=device) for v in values))
    return call


def _extreme(builtin, tensor_call):
    def call(a, *rest):
        for b in rest:
            both = [v for v in (a, b) if torch.is_tensor(v)]
            a = builtin(a, b) if not both else tensor_call(
                *(torch.as_tensor(v, dtype=torch.float64, device=both[0].device) for v in (a, b)))
        return a
    return call


def _where(condition, a, b):
    if not torch.is_tensor(condition):
        return a if condition else b
    a, b = (torch.as_tensor(v, dtype=torch.float64, device=condition.device) for v in (a, b))
    return torch.where(condition, a, b)


_FUNCTIONS = {name: _either(name) for name in ("sqrt", "exp", "log", "sin", "cos", "floor", "pow")}
_FUNCTIONS.update(
    min=_extreme(min, torch.minimum), max=_extreme(max, torch.maximum), abs=abs, where=_where,
    cbrt=lambda v: v ** (1 / 3), clamp=lambda v, lo, hi: _FUNCTIONS["min"](_FUNCTIONS["max"](v, lo), hi),
    ceildiv=lambda a, b: -(-a // b), floordiv=lambda a, b: a // b, align=lambda a, b: -(-a // b) * b,
    log2floor=lambda a: int(a).bit_length() - 1, log2ceil=lambda a: (int(a) - 1).bit_length(),
    pow2ceil=lambda a: 1 << (int(a) - 1).bit_length())


def value_of(text, names):
    """An expression of a problem over `names`."""
    return eval(compile(_python(text).strip(), "<expression>", "eval"), {"__builtins__": {}}, {**_FUNCTIONS, **names})


def call_of(text):
    """`name(a, key=b)` as ("name", [texts], {key: text})."""
    tree = ast.parse(_python(text).strip(), mode="eval").body
    if not isinstance(tree, ast.Call):
        raise NoFill(text)
    return (tree.func.id, [ast.unparse(a) for a in tree.args], {k.arg: ast.unparse(k.value) for k in tree.keywords})


class _Fills:
    """One method a fill: from shape and bound arguments to a tensor of any real type."""

    def __init__(self, device, generator, names):
        self.device, self.generator, self.names = device, generator, names

    def _normal(self, shape):
        return torch.randn(shape, generator=self.generator, device=self.device)

    def _unit(self, shape):
        return torch.rand(shape, generator=self.generator, device=self.device)

    def constant(self, shape, v):
        return torch.full(shape, float(v), device=self.device)

    def normal(self, shape, mean=0, std=1):
        return self._normal(shape).mul_(std).add_(mean)

    def uniform(self, shape, lo, hi):
        return self._unit(shape).mul_(hi - lo).add_(lo)

    def lognormal(self, shape, mu, sigma):
        return self.normal(shape, mu, sigma).exp_()

    def student(self, shape, df, std=1):
        chi = self._normal((*shape, int(df))).square_().sum(-1)
        return self._normal(shape) / torch.sqrt(chi / df) * std * (math.sqrt((df - 2) / df) if df > 2 else 1)

    def spikes(self, shape, rate, scale):
        return torch.where(self._unit(shape) < rate, scale, 1.0) * self._normal(shape)

    def weight(self, shape, gain=1, fan=None):
        return self._normal(shape).mul_(gain / math.sqrt(fan or shape[-1]))

    def integer(self, shape, lo, hi):
        return torch.randint(int(lo), int(hi) + 1, shape, generator=self.generator, device=self.device)

    def bits(self, shape, p=0.5):
        out = torch.zeros(shape, dtype=torch.int64, device=self.device)
        for bit in range(self.width):
            out |= (self._unit(shape) < p).long() << bit
        return out

    def choice(self, shape, *values):
        table = torch.tensor([float(v) for v in values], device=self.device)
        return table[self.integer(shape, 0, len(values) - 1)]

    def lattice(self, shape, bits, lo, hi):
        return self.integer(shape, round(lo * 2**bits), round(hi * 2**bits)) / 2**bits

    def mask(self, shape, keep, at_least=0, axis=-1):
        draw = self._unit(shape)
        place = draw.argsort(axis).argsort(axis)
        out = (self._unit(shape) < keep) | (place < at_least)
        return out & (place < shape[int(axis)] - 1) if keep < 1 and shape[int(axis)] > at_least else out

    def permutation(self, shape, axis=-1):
        return self._unit(shape).argsort(int(axis))

    def distinct(self, shape, range, axis=-1):
        axis = int(axis) % len(shape)
        wide = [int(range) if a == axis else n for a, n in enumerate(shape)]
        return self.permutation(wide, axis).narrow(axis, 0, shape[axis])

    def onehot(self, shape, axis=-1):
        return (self.permutation(shape, axis) == 0).float()

    def probability(self, shape, axis=-1, concentration=1):
        draw = torch._standard_gamma(torch.full(shape, float(concentration), device=self.device))
        return draw / draw.sum(int(axis), keepdim=True)

    def unit(self, shape, axis=-1):
        return F.normalize(self._normal(shape), dim=int(axis))

    def quaternion(self, shape):
        return self.unit(shape)

    def rotation(self, shape):
        turn = torch.linalg.qr(self._normal(shape))[0]
        turn[..., 0] *= torch.sign(torch.linalg.det(turn))[..., None]
        return turn

    def _sizes(self, shape, condition):
        n = shape[-1]
        size = torch.exp(torch.arange(n, device=self.device) / max(n - 1, 1) * math.log(condition))
        return size[self.permutation(shape[:-1])]

    def spd(self, shape, condition):
        turn = torch.linalg.qr(self._normal(shape))[0]
        full = turn * self._sizes(shape, condition)[..., None, :] @ turn.transpose(-1, -2)
        return (full + full.transpose(-1, -2)) / 2

    def dominant(self, shape, margin):
        out = self._normal(shape)
        line = torch.diagonal(out, dim1=-2, dim2=-1)
        line.copy_((1 + margin) * (out.abs().sum(-1) - line.abs()))
        return out

    def lower(self, shape, condition):
        below = self._normal(shape).tril(-1) / (2 * math.sqrt(shape[-1]))
        return (below + torch.eye(shape[-1], device=self.device)) / self._sizes(shape, condition)[..., None]

    def field(self, shape, slope=1):
        lead, grid = shape[:-3], shape[-3:]
        out, step = torch.zeros((math.prod(lead), 1, *grid), device=self.device), max(grid)
        mode = ("linear", "bilinear", "trilinear")[len(grid) - 1]
        while step >= 1:
            coarse = self._normal((math.prod(lead), 1, *(n // step + 2 for n in grid)))
            fine = F.interpolate(coarse, scale_factor=step, mode=mode, align_corners=True)
            out += (step / max(grid)) ** slope * fine[(..., *(slice(0, n) for n in grid))]
            step //= 2
        return (out / out.std().clamp_min(1e-6)).view(shape)

    def jittered_lattice(self, shape, count, side, jitter):
        axes = min(shape[-1], 3)
        cells = math.ceil(count ** (1 / axes) - 1e-9)
        cell = self._unit(shape[:-1]).argsort(-1)
        place = torch.stack([cell // cells**a % cells for a in range(axes)], -1) + 0.5
        place = place + jitter * (2 * self._unit(place.shape) - 1)
        return torch.cat((place * side / cells, self._normal((*shape[:-1], shape[-1] - axes))), -1)

    def formula(self, shape, text):
        names = dict(self.names)
        for axis, extent in enumerate(shape):
            line = torch.arange(extent, dtype=torch.float64, device=self.device)
            names["i%d" % axis] = line.view([-1 if a == axis else 1 for a in range(len(shape))])
        made = torch.as_tensor(value_of(text, names), dtype=torch.float64, device=self.device)
        return made.expand(shape).contiguous()


def _cast(made, element):
    kind = TYPES[element]
    if kind is None:
        raise NoFill("type %s in torch %s" % (element, torch.__version__))
    if not kind.is_floating_point and not kind.is_complex and made.is_floating_point() and kind != torch.bool:
        made = made.round().clamp(torch.iinfo(kind).min, torch.iinfo(kind).max)
    return made.to(kind)


def _filled(fills, fill, tensor, shape, done, groups):
    if "(" not in fill:
        group, part = fill.split(".")
        return groups[group].part(part, shape)
    name, positional, named = call_of(fill)
    if name == "copy":
        return done[positional[0]]
    if name == "sorted":
        return _filled(fills, positional[0], tensor, shape, done, groups).sort(int(named.get("axis", -1)))[0]
    if name == "prefix":
        return torch.arange(shape[-1], device=fills.device) < done[positional[0]].long()[..., None]
    if name == "formula":
        return fills.formula(shape, positional[0])
    if name.startswith("_") or not hasattr(fills, name):
        raise NoFill("%s = %s" % (tensor["name"], fill))
    fills.width = 1 if tensor["element"] == "bool" else 8 * torch.empty(0, dtype=TYPES[tensor["element"]]).element_size()
    bound = [value_of(text, fills.names) for text in positional]
    return getattr(fills, name)(shape, *bound, **{k: value_of(text, fills.names) for k, text in named.items()})


def make(problem, case, device, seed=1):
    """The inputs of a case of `sweep problems show --json`, name -> tensor. Raises NoFill."""
    generator = torch.Generator(device=device).manual_seed(seed)
    names = {**case["dims"], **case["scalars"]}
    fills = _Fills(device, generator, names)
    groups = {}
    for name, text in problem["groups"].items():
        kind, positional, named = call_of(text)
        if positional or kind not in eager_groups.KINDS:
            raise NoFill("%s = %s" % (name, text))
        arguments = {k: value_of(v, names) for k, v in named.items()}
        groups[name] = eager_groups.KINDS[kind](device, seed, **arguments)
    done = {}
    for tensor in problem["tensors"]:
        if tensor["role"] in ("input", "inout"):
            shape = tuple(case["tensors"][tensor["name"]])
            made = _filled(fills, tensor["fill"], tensor, shape, done, groups)
            if tensor["element"].startswith("c") and not made.is_complex():
                other = _filled(fills, tensor["fill"], tensor, shape, done, groups)
                made = torch.complex(made.float(), other.float())
            done[tensor["name"]] = _cast(made, tensor["element"]).reshape(shape)
    return done
