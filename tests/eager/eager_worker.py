"""The part of scripts/eager-table that has torch: one request a line on stdin, one answer a line on the first stdout. A request
that fails is answered with {"error": ..}; the process goes on."""
import gc
import importlib.util
import inspect
import json
import keyword
import math
import os
import statistics
import sys
import time

import torch

import eager_fills

MODULES = os.path.dirname(os.path.abspath(__file__))
WASH_BYTES = 256 << 20  # the L2 of an H200 holds 50 MB
UNROLLED = 300          # steps of a Python loop that torch.compile is left to unroll


class Refused(Exception):
    """What is said to the reader as it stands."""


def module_of(problem, folder):
    path = os.path.join(folder or MODULES, problem["id"].replace("/", "_") + ".py")
    if not os.path.exists(path):
        raise Refused("no module " + path)
    spec = importlib.util.spec_from_file_location("eager_" + problem["id"].replace("/", "_"), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # torch.compile looks a function's module up by its name
    spec.loader.exec_module(module)
    return module


def bound(function, dims, scalars):
    """`function` of the tensors alone, by name, and their names; dims and scalars are constants of it."""
    values = {**dims, **scalars}
    named = {}  # parameter -> name in the problem: a keyword of Python has a `_` behind it
    for parameter in inspect.signature(function).parameters:
        named[parameter] = parameter[:-1] if keyword.iskeyword(parameter.rstrip("_")) else parameter
    constants = {p: values[name] for p, name in named.items() if name in values}
    tensors_of = {p: name for p, name in named.items() if name not in values}

    def call(tensors):
        return function(**{p: tensors[name] for p, name in tensors_of.items()}, **constants)

    return call, list(tensors_of.values())


def outputs_of(problem, made):
    names = [t["name"] for t in problem["tensors"] if t["role"] in ("output", "inout")]
    made = made if isinstance(made, (tuple, list)) else (made,)
    if len(made) != len(names):
        raise Refused("%d results for the outputs %s" % (len(made), ", ".join(names)))
    return dict(zip(names, made))


def settings(device):
    torch.set_num_threads(max(1, min(4, os.cpu_count() or 1)))
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    for name in ("allow_bf16_reduced_precision_reduction", "allow_fp16_reduced_precision_reduction"):
        try:
            setattr(torch.backends.cuda.matmul, name, False)
        except AssertionError:  # torch 1.13 reads the first, and refuses to set it
            pass
    if device.startswith("cuda"):
        torch.cuda.set_device(device)


def allowed(element, device, module):
    """Largest relative error. A GPU gets ten times as much: there the check is for wrong kernels, not for digits."""
    own = getattr(module, "ALLOWED", 1e-4) * (1 if device == "cpu" else 10)
    return {"f64": own, "f32": own, "bf16": 2.0**-7, "f16": 2.0**-9}.get(element, 0)


def difference(got, want, element, allow):
    """The largest error as a share of `allow`, relative to the value or the tensor's rms, whichever is larger."""
    if got.is_complex():
        got = torch.view_as_real(got)
    got = got.cpu().to(torch.float64 if got.is_floating_point() else torch.int64).flatten()
    if not got.numel() == len(want):
        raise Refused("%d elements instead of %d" % (got.numel(), len(want)))
    if not got.is_floating_point():
        bits = {"u8": 8, "u16": 16, "u32": 32}.get(element, 64)
        wrong = [a for a, b in zip(got.tolist(), want) if (int(a) - int(b)) % (1 << bits)]
        return math.inf if wrong else 0.0
    want = torch.tensor([float(v) for v in want], dtype=torch.float64)
    same = (got == want) | (got.isnan() & want.isnan())
    size = want[want.isfinite()].square().mean().sqrt() if want.isfinite().any() else torch.tensor(0.0)
    error = (got - want).abs() / (allow * torch.maximum(want.abs(), size)).clamp_min(1e-300)
    error = torch.where(same, torch.zeros_like(error), error.nan_to_num(math.inf, math.inf))
    return float(error.max()) if error.numel() else 0.0


def tensor_from(values, element, shape, device):
    kind = eager_fills.TYPES[element]
    if element in ("u16", "u32", "u64"):
        bits = int(element[1:])
        values = [v - (1 << bits) if v >= 1 << (bits - 1) else v for v in values]
    if kind.is_complex:
        values = [complex(*v) if isinstance(v, list) else v for v in values]
    return torch.tensor(values, dtype=kind, device=device).reshape(shape)


def all_dims(problem, free):
    """Free dims with the derived ones, and the extents of each tensor."""
    dims = dict(free)
    for dim in problem["dims"]:
        if dim["kind"] == "derived":
            dims[dim["name"]] = round(eager_fills.value_of(dim["rule"], dims))
    ranks = [dims[dim["name"]] for dim in problem["dims"] if dim["kind"] == "ranks"]
    shapes = {}
    for tensor in problem["tensors"]:
        extents = [round(eager_fills.value_of(text, dims)) for text in tensor["shape"]]
        shapes[tensor["name"]] = (ranks if tensor["per_rank"] else []) + extents
    return dims, shapes


def golden(problem, path, device, folder):
    """Holds the module to the golden vectors; answers with the worst share of what is allowed."""
    module = module_of(problem, folder)
    with open(path) as handle:
        cases = json.load(handle)["cases"]
    elements = {t["name"]: t["element"] for t in problem["tensors"]}
    worst = 0.0
    for number, case in enumerate(cases):
        dims, shapes = all_dims(problem, case["dims"])
        call, wanted = bound(module.run, dims, case["scalars"])
        tensors = {k: tensor_from(case["inputs"][k], elements[k], shapes[k], device) for k in wanted}
        for name, got in outputs_of(problem, call(tensors)).items():
            if list(got.shape) != shapes[name]:
                raise Refused("case %d: %s has the shape %s instead of %s" % (number, name, list(got.shape), shapes[name]))
            allow = allowed(elements[name], device, module)
            share = difference(got, case["expected"][name], elements[name], allow)
            if not share <= 1:
                raise Refused("case %d: %s is off by %.3g of what is allowed" % (number, name, share))
            worst = max(worst, share)
    return {"cases": len(cases), "worst": worst}


def smoke(problem, case, device, folder):
    """Runs the module once on inputs by the fills; answers with the share of results that are numbers."""
    call, wanted = bound(module_of(problem, folder).run, case["dims"], case["scalars"])
    tensors = eager_fills.make(problem, case, device)
    numbers = count = 0
    for name, got in outputs_of(problem, call({k: tensors[k] for k in wanted})).items():
        element = next(t["element"] for t in problem["tensors"] if t["name"] == name)
        if list(got.shape) != case["tensors"][name] or got.dtype != eager_fills.TYPES[element]:
            raise Refused("%s: %s is %s %s instead of %s" % (case["name"], name, got.dtype, list(got.shape), case["tensors"][name]))
        numbers, count = numbers + int((~torch.isnan(got)).sum()), count + got.numel()
    return {"numbers": numbers / max(count, 1)}


class DeviceClock:
    """Seconds of a GPU from before the first kernel of a call to after the last, caches washed before."""

    def __init__(self):
        self.wash = torch.empty(WASH_BYTES, dtype=torch.uint8, device="cuda")

    def seconds(self, call, value):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        self.wash.fill_(value)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3


class HostClock:
    """For a run without a GPU, which shows that the parts fit together."""

    def seconds(self, call, value):
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin


class Item:
    """One module at one shape, warmed up."""

    def __init__(self, problem, case, device, how, folder):
        module = module_of(problem, folder)
        steps = getattr(module, "steps", None)
        if how == "compile" and steps:
            count = bound(steps, case["dims"], case["scalars"])[0]({})
            if count > UNROLLED:
                raise Refused("not tried: it would unroll %d steps of a loop" % count)
        call, wanted = bound(module.run, case["dims"], case["scalars"])
        tensors = eager_fills.make(problem, case, device)
        self.tensors = {name: tensors[name] for name in wanted}
        if how == "compile":
            torch._dynamo.reset()
            call = torch.compile(call)
        self.call = call
        self.on_gpu = device.startswith("cuda")
        begin = time.perf_counter()
        made = outputs_of(problem, self.call(self.tensors))
        if self.on_gpu:
            torch.cuda.synchronize()
        self.first_seconds = time.perf_counter() - begin
        for name, tensor in made.items():
            if list(tensor.shape) != case["tensors"][name]:
                raise Refused("%s has the shape %s instead of %s" % (name, list(tensor.shape), case["tensors"][name]))

    def times(self, budget):
        """At least 20 calls after a warm-up; fewer, which the answer says, where 20 take more than `budget` seconds."""
        clock = DeviceClock() if self.on_gpu else HostClock()

        def once(value):
            return clock.seconds(lambda: self.call(self.tensors), value)

        estimate = once(0)
        if 23 * estimate < budget:
            estimate = min(once(0) for _ in range(2))
        calls = max(20, min(100, int(0.3 / max(estimate, 1e-6))))
        if calls * estimate > budget:
            calls = max(1, min(20, int(budget / estimate)))
        got = [once(n & 1) for n in range(calls)] if calls > 1 else [estimate]
        low, middle, high = statistics.quantiles(got, n=4) if len(got) > 2 else (min(got), statistics.median(got), max(got))
        return {"seconds": middle, "low": low, "high": high, "calls": len(got), "first_seconds": self.first_seconds,
                "peak_bytes": torch.cuda.max_memory_allocated() if self.on_gpu else 0}


def conditions(device):
    out = {"torch": torch.__version__, "python": sys.version.split()[0], "cuda": torch.version.cuda,
           "tf32": torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32, "inference_mode": True,
           "wash_bytes": WASH_BYTES, "unrolled_at_most": UNROLLED}
    if device.startswith("cuda"):
        found = torch.cuda.get_device_properties(device)
        out.update(gpu=found.name, sms=found.multi_processor_count, cudnn=torch.backends.cudnn.version())
    return out


class Worker:
    def __init__(self):
        self.item = None

    def drop(self):
        self.item = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        return {}

    def answer(self, request):
        kind, device = request["op"], request.get("device", "cpu")
        if kind == "conditions":
            return conditions(device)
        if kind == "golden":
            return golden(request["problem"], request["golden"], device, request.get("modules"))
        if kind == "smoke":
            return smoke(request["problem"], request["case"], device, request.get("modules"))
        if kind == "prepare":
            self.drop()
            self.item = Item(request["problem"], request["case"], device, request["how"], request.get("modules"))
            return {"first_seconds": self.item.first_seconds}
        if kind == "time":
            return self.item.times(request["budget"])
        return self.drop()


def short(error):
    """One line that names the cause."""
    text = " ".join(str(error).split())
    return "%s: %s" % (type(error).__name__, text[:300]) if text else type(error).__name__


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not mix with answers
    sys.path.insert(0, MODULES)
    settings(sys.argv[1])
    worker = Worker()
    with torch.inference_mode():
        for line in sys.stdin:
            request = json.loads(line)
            request["device"] = sys.argv[1]
            try:
                answer = worker.answer(request)
            except (Refused, eager_fills.NoFill) as error:
                answer = {"error": str(error)}
            except Exception as error:  # a module that fails is a row of the table
                answer = {"error": short(error)}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
