"""The file of measurements of scripts/eager-table, and its table."""
import json
import math
import os
import time

SCHEMA = 1


class Log:
    """JSON lines, appended and flushed one by one; a line that a cut left half written is left out."""

    def __init__(self, path, retry=False):
        self.path, self.records, self.run = path, [], None
        if os.path.exists(path):
            with open(path) as handle:
                for line in handle:
                    try:
                        self.records.append(json.loads(line))
                    except ValueError:
                        continue
        self.known = {}
        for r in self.records:
            if r["kind"] != "conditions" and not (retry and "error" in r):
                self.known[self._key(r["kind"], r["problem"], r["shape"], r["source"])] = r

    @staticmethod
    def _key(*parts):
        return parts

    def _append(self, record):
        cut = False
        if os.path.exists(self.path) and os.path.getsize(self.path):
            with open(self.path, "rb") as handle:
                handle.seek(-1, os.SEEK_END)
                cut = handle.read(1) != b"\n"
        with open(self.path, "a") as handle:
            handle.write(("\n" if cut else "") + json.dumps(record, sort_keys=True) + "\n")
        self.records.append(record)

    def begin(self, conditions):
        self.run = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._append({"schema": SCHEMA, "kind": "conditions", "run": self.run, **conditions})

    def has(self, kind, problem, shape, source):
        return self._key(kind, problem, shape, source) in self.known

    def get(self, kind, problem, shape, source):
        return self.known.get(self._key(kind, problem, shape, source))

    def put(self, kind, problem, shape, source, result):
        record = {"schema": SCHEMA, "kind": kind, "run": self.run, "problem": problem, "shape": shape, "source": source, **result}
        self.known[self._key(kind, problem, shape, source)] = record
        self._append(record)


def duration(seconds):
    if seconds is None:
        return "-"
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return "%.3g %s" % (seconds / size, unit)
    return "%.3g us" % (seconds * 1e6)


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def _cell(record):
    if record is None:
        return "-"
    if "error" in record:
        return "not tried" if record["error"].startswith("not tried") else "fails"
    few = "" if record.get("calls", 20) >= 20 else " (%d calls)" % record["calls"]
    return duration(record["seconds"]) + few


def _ratio(a, b):
    good = a is not None and b is not None and "seconds" in a and "seconds" in b
    return a["seconds"] / b["seconds"] if good else None


def _number(value):
    return "-" if value is None else "%.3g" % value


def _loops(problem):
    """Why the module of a problem has a Python loop, or None."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), problem.replace("/", "_") + ".py")
    if os.path.exists(path):
        with open(path) as handle:
            for line in handle:
                if line.startswith("LOOP = "):
                    return json.loads(line[len("LOOP = "):])
    return None


def _rows(records, told, use):
    """(problem, case, kind -> record) of all timed shapes; of several records the last counts."""
    last = {}
    for r in records:
        if r["kind"] != "conditions":
            last[r["kind"], r["problem"], r["shape"]] = r
    for problem in told:
        for case in problem["cases"]:
            if use in case["uses"]:
                yield problem, case, {kind: last.get((kind, problem["id"], case["name"]))
                                      for kind in ("seed", "eager", "compile", "baseline")}


def _conditions(records):
    lines = []
    for r in (r for r in records if r["kind"] == "conditions"):
        line = "- %s, driver %s, torch %s, CUDA %s, cuDNN %s, Python %s, TF32 %s, inference mode" % (
            r.get("gpu"), r.get("driver"), r["torch"], r["cuda"], r.get("cudnn"), r["python"], "on" if r["tf32"] else "off")
        if line not in lines:
            lines.append(line)
    runs = sorted({r["run"] for r in records if r["kind"] != "conditions"})
    return lines + ["- %d run%s, %s" % (len(runs), "" if len(runs) == 1 else "s", " to ".join(sorted({runs[0], runs[-1]})))] if runs else lines


def _means(rows):
    """Geometric means over problems, of each the mean over its shapes; loops apart."""
    out = []
    for title, against in (("eager", "eager"), ("torch.compile", "compile")):
        for what, wanted in (("all", lambda p: True), ("without Python loops over steps", lambda p: _loops(p) is None)):
            of = {}
            for problem, _, got in rows:
                ratio = _ratio(got["seed"], got[against])
                if ratio is not None and wanted(problem["id"]):
                    of.setdefault(problem["id"], []).append(ratio)
            if of:
                out.append("| seed / %s, %s | %d | %.3g |" % (title, what, len(of), geometric([geometric(v) for v in of.values()])))
    return out


TITLE = """# Seeds against eager PyTorch

Medians on one GPU with cold caches. *floor*: roofline at datasheet rates; *seed*: `sweep eval --only time --fast`; *eager* and
*compile*: `tests/eager` by torch, from before the first kernel to after the last, gaps between launches included, first calls left
out; *library*: `sweep baseline record`. A ratio below 1 means that the seed is faster.
"""


def table(records, told, use="time"):
    """The Markdown text. `told`: what `sweep problems show --json` says of the problems to list; `use`: of their shapes."""
    rows = list(_rows(records, told, use))
    lines = [TITLE, *_conditions(records), "", "| geometric mean | problems | |", "| --- | --- | --- |", *_means(rows), "",
             "| problem | shape | floor | seed | eager | compile | library | seed / eager | seed / compile | |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    errors = []
    for problem, case, got in rows:
        floor = (got["seed"] or {}).get("floor_seconds") or case["floor_seconds"]
        ratio = _ratio(got["seed"], got["eager"])
        notes = ["loop"] if _loops(problem["id"]) else []
        notes += ["outlier"] if ratio is not None and not 0.5 <= ratio <= 2 else []
        runs = {r["run"] for k, r in got.items() if r is not None and k in ("seed", "eager", "compile")}
        notes += ["%d runs" % len(runs)] if len(runs) > 1 else []
        lines.append("| %s | %s | %s | %s | %s | %s | %s |" % (
            problem["id"], case["name"], duration(floor or None), " | ".join(_cell(got[k]) for k in ("seed", "eager", "compile", "baseline")),
            _number(ratio), _number(_ratio(got["seed"], got["compile"])), ", ".join(notes)))
        errors += ["- %s %s, %s: %s" % (problem["id"], case["name"], kind, r["error"]) for kind, r in got.items() if r and "error" in r]
    for r in records:
        if r["kind"] == "golden" and "error" in r and r["problem"] in {p["id"] for p in told}:
            errors.append("- %s, not timed since its module disagrees with the golden vectors: %s" % (r["problem"], r["error"]))
    loops = ["- %s: %s" % (p["id"], _loops(p["id"])) for p in told if _loops(p["id"])]
    if loops:
        lines += ["", "Python loops:", *loops]
    if errors:
        lines += ["", "What has no time:", *dict.fromkeys(errors)]
    return "\n".join(lines) + "\n"
