#!/usr/bin/env python3
"""Tests of scripts/eager-table and its parts. Those that need torch skip without it."""
import json
import os
import select
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "eager-table")
SWEEP = os.environ.get("SWEEP_BINARY")
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import eager_pool  # noqa: E402
import eager_report  # noqa: E402

PYTHON = eager_pool.find_python(None)
needs_torch = unittest.skipUnless(PYTHON, "no Python here has torch")

CASE = {"name": "full", "uses": ["time"], "floor_seconds": 1e-5}
TOLD = [{"id": "none/1", "cases": [CASE]}]


def record(kind, **more):
    return {"kind": kind, "run": "r", "problem": "none/1", "shape": "full", "source": "s", **more}


class Report(unittest.TestCase):
    def test_ratio_mean_and_failures(self):
        records = [record("seed", seconds=2e-4, floor_seconds=1e-4), record("eager", seconds=1e-3, calls=20),
                   record("compile", error="RuntimeError: no")]
        text = eager_report.table(records, TOLD)
        self.assertIn("| none/1 | full | 100 us | 200 us | 1 ms | fails | - | 0.2 | - | outlier |", text)
        self.assertIn("| seed / eager, all | 1 | 0.2 |", text)
        self.assertIn("none/1 full, compile: RuntimeError: no", text)

    def test_the_mean_weighs_problems_not_shapes(self):
        told = [{"id": i, "cases": [dict(CASE, name=n) for n in names]} for i, names in (("none/1", "ab"), ("none/2", "c"))]
        records = [dict(record(kind, seconds=seconds), problem=problem, shape=shape) for problem, shape, ratio in
                   (("none/1", "a", 4), ("none/1", "b", 4), ("none/2", "c", 0.25)) for kind, seconds in (("seed", ratio), ("eager", 1))]
        self.assertIn("| seed / eager, all | 2 | 1 |", eager_report.table(records, told))

    def test_the_last_measurement_counts_and_few_calls_are_said(self):
        records = [record("eager", seconds=1), record("eager", seconds=2, calls=3)]
        self.assertIn("2 s (3 calls)", eager_report.table(records, TOLD))


class Log(unittest.TestCase):
    def test_goes_on_after_a_cut(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.jsonl")
            log = eager_report.Log(path)
            log.begin({"torch": "2"})
            log.put("eager", "none/1", "full", "s", {"seconds": 1})
            log.put("compile", "none/1", "full", "s", {"error": "no"})
            with open(path, "a") as handle:
                handle.write('{"kind": "ea')
            again = eager_report.Log(path)
            self.assertTrue(again.has("eager", "none/1", "full", "s"))
            self.assertTrue(again.has("compile", "none/1", "full", "s"))
            self.assertFalse(again.has("eager", "none/1", "full", "another source"))
            self.assertFalse(eager_report.Log(path, retry=True).has("compile", "none/1", "full", "s"))
            again.put("seed", "none/1", "full", "s", {"seconds": 2})
            self.assertTrue(eager_report.Log(path).has("seed", "none/1", "full", "s"))


class Pool(unittest.TestCase):
    def worker(self, text):
        path = os.path.join(self.folder.name, "worker.py")
        with open(path, "w") as handle:
            handle.write(text)
        return eager_pool.Worker(sys.executable, "cpu", path)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_a_late_one_is_ended_and_started_anew(self):
        worker = self.worker("import sys, time\nfor line in sys.stdin:\n  time.sleep(100 if 'slow' in line else 0)\n  print(line, flush=True)")
        with self.assertRaises(eager_pool.Late) as late:
            worker.ask({"op": "slow"}, 1)
        self.assertEqual(late.exception.seconds, 1)
        self.assertIsNone(worker.process)
        self.assertEqual(worker.ask({"op": "quick"}, 60), {"op": "quick"})
        worker.stop()

    def test_an_answer_in_time_counts_however_late_it_is_read(self):
        worker = self.worker("for line in __import__('sys').stdin:\n  print(line, flush=True)")
        worker.send({"op": "quick"}, 60)
        select.select([worker.process.stdout], [], [], 60)
        worker.deadline = 0
        self.assertEqual(worker.answer(), {"op": "quick"})
        worker.stop()

    def test_one_that_ends_says_why(self):
        worker = self.worker("raise SystemExit('out of paper')")
        with self.assertRaisesRegex(eager_pool.Late, "exit 1; out of paper"):
            worker.ask({}, 60)


@needs_torch
class Fills(unittest.TestCase):
    def run_python(self, text):
        program = "import sys; sys.path.insert(0, %r); import torch, eager_fills as f, eager_groups as g\n%s" % (HERE, text)
        done = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_groups_agree_with_themselves(self):
        self.run_python("""
c = g.Csr("cpu", 1, 200, 90, 3000, skew=0.8, empty=0.1).parts
assert c["offsets"][-1] == 3000 and c["degree"].sum() == 3000 and c["degree"].max() <= 90 and (c["degree"] == 0).any()
key = c["owner"] * 90 + c["col"]
assert (key.diff() > 0).all() and c["col"].max() < 90
s = g.Csr("cpu", 1, 60, 60, 301, skew=0.8, symmetric=1).parts
key, back = s["owner"] * 60 + s["col"], s["col"] * 60 + s["owner"]
assert (key.diff() > 0).all() and (back.sort()[0] == key).all() and (s["col"] == s["owner"]).sum() == 1 and s["offsets"][-1] == 301
r = g.Ragged("cpu", 1, 40, 400, skew=1, empty=0.2, min=2, align=4).parts
assert r["lengths"].sum() == 400 and (r["lengths"] % 4 == 0).all() and (r["lengths"][r["lengths"] > 0] >= 4).all()
for k in (1, 3):
    p = g.Routing("cpu", 1, 50, 8, k, 0.8, 0.3).parts
    e = p["expert"].flatten()
    assert (e[p["inverse"]].diff() >= 0).all() and (p["slot"][p["inverse"]] == torch.arange(50 * k)).all()
    assert (torch.bincount(e, minlength=8).cumsum(0) == p["offsets"][1:]).all()
    assert all(len(set(row)) == k for row in p["expert"].tolist())
s = g.Shuffle("cpu", 1, 9, 2).parts
assert (s["forward"].gather(1, s["inverse"]) == torch.arange(9)).all()
""")

    def test_expressions_of_c(self):
        self.run_python("""
assert f.value_of("a < 2 ? b + 1 : (a == 3 ? 7 : 8)", {"a": 3, "b": 1}) == 7
assert f.value_of("max(1, min(a, ceildiv(7, 2)))*2", {"a": 9}) == 8
p = {"groups": {}, "tensors": [{"name": "w", "element": "f32", "role": "input", "fill": "formula(i1 < n/2 ? 0 : pow(2, i0) + min(i1, 3))"},
    {"name": "m", "element": "f32", "role": "input", "fill": "mask(keep=0.5, at_least=1)"},
    {"name": "q", "element": "i8", "role": "input", "fill": "normal(std=90)"}]}
c = {"dims": {"n": 8}, "scalars": {}, "tensors": {"w": [2, 8], "m": [50, 8], "q": [99]}}
t = f.make(p, c, "cpu")
assert t["w"].tolist() == [[0] * 4 + [4.0] * 4, [0] * 4 + [5.0] * 4]
assert t["m"].sum(1).min() >= 1 and t["m"].sum(1).max() <= 7
assert t["q"].dtype == torch.int8 and all((f.make(p, c, "cpu")[n] == t[n]).all() for n in t)
try: f.make({"groups": {}, "tensors": [dict(p["tensors"][0], fill="made()")]}, c, "cpu"); raise SystemExit("made")
except f.NoFill: pass
""")


@needs_torch
@unittest.skipUnless(SWEEP, "SWEEP_BINARY names no program")
class Check(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "level1_14.py"), "w") as handle:
                handle.write(text)
            return subprocess.run([sys.executable, SCRIPT, "--check", "level1/14", "level1/3", "--sweep", SWEEP, "--python", PYTHON,
                                   "--modules", folder], capture_output=True, text=True)

    def test_a_wrong_module_is_found_and_a_missing_one_named(self):
        done = self.check("def run(x1, x2):\n    return (x1[:, :, None] - x2[:, None]).square().sum(-1)\n")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, "WRONG +level1/14 +case 0: cov is off by")
        self.assertRegex(done.stdout, "none +level1/3")

    def test_a_failing_module_is_found(self):
        done = self.check("def run(x1):\n    return x1.no_such_thing()\n")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("AttributeError", done.stdout)


@needs_torch
@unittest.skipUnless(SWEEP, "SWEEP_BINARY names no program")
class Run(unittest.TestCase):
    """On the cpu, where all parts but the clock of a GPU are the same."""

    def lines(self, folder, *more):
        path = os.path.join(folder, "r.jsonl")
        done = subprocess.run([sys.executable, SCRIPT, "level1/14", "--device", "cpu", "--kinds", "eager", "--sweep", SWEEP, "--python",
                               PYTHON, "--results", path, *more], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path) as handle:
            return [r for r in map(json.loads, handle) if r["kind"] != "conditions"]

    def test_times_each_shape_once(self):
        with tempfile.TemporaryDirectory() as folder:
            first = self.lines(folder, "--seconds", "0")
            self.assertEqual(first, [])
            got = self.lines(folder)
            self.assertEqual([(r["kind"], r["shape"]) for r in got], [("golden", None), ("eager", "cpu"), ("eager", "tiny")])
            self.assertGreaterEqual(got[1]["calls"], 20)
            self.assertLessEqual(got[1]["low"], got[1]["seconds"])
            self.assertEqual(self.lines(folder), got)


@unittest.skipUnless(SWEEP, "SWEEP_BINARY names no program")
class CommandLine(unittest.TestCase):
    def test_unknown_problem(self):
        done = subprocess.run([sys.executable, SCRIPT, "level9/9", "--sweep", SWEEP], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("level9/9: no problem that is ready", done.stderr)

    def test_check_without_torch_is_skipped_with_its_reason(self):
        done = subprocess.run([sys.executable, SCRIPT, "--check", "level1/3", "--sweep", SWEEP, "--python", "/nonexistent/python"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 77)
        self.assertIn("eager-table: Skipped\nno Python here has torch", done.stderr)

    def test_render_needs_no_torch(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.jsonl")
            with open(path, "w") as handle:
                for kind, seconds in (("seed", 3e-3), ("eager", 1e-3)):
                    handle.write(json.dumps(dict(record(kind, seconds=seconds), problem="level1/3")) + "\n")
            done = subprocess.run([sys.executable, SCRIPT, "--render", "level1/3", "--results", path, "--sweep", SWEEP],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(folder, "r.md")) as handle:
                self.assertRegex(handle.read(), r"\| level1/3 \| full \| [^|]+ \| 3 ms \| 1 ms \| - \| - \| 3 \| - \| outlier \|")


if __name__ == "__main__":
    unittest.main(verbosity=2)
