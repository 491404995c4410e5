"""Shared by the oracle programs: inputs and the golden file format (README.md). Standard library only."""

import decimal
import json
import pathlib
import random
import struct

# Far beyond double: results are rounded once, at the end.
decimal.getcontext().prec = 50

ROOT = pathlib.Path(__file__).resolve().parent.parent / "golden"


def f32(value):
    """The nearest float32, as a Python float."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def bf16(value):
    """The nearest bfloat16 (ties to even), as a Python float."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def normals(rng, count, mean=0.0, std=1.0):
    return [f32(rng.gauss(mean, std)) for _ in range(count)]


def generator(seed):
    return random.Random(seed)


def exact(value):
    """A float as a Decimal without loss."""
    return decimal.Decimal(value)


def write(problem, cases):
    """Writes tests/golden/<level>_<id>.json; `cases` holds dicts with dims, scalars, inputs, expected."""
    path = ROOT / (problem.replace("/", "_") + ".json")
    lines = []
    for case in cases:
        lines.append(json.dumps(case, separators=(",", ":")))
    path.write_text('{"schema":1,"problem":"%s","relative_tolerance":1e-11,"cases":[\n%s\n]}\n'
                    % (problem, ",\n".join(lines)))
    print(path.name, len(cases), "cases")
