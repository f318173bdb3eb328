"""Code that is compiled ahead: the list of it, and the folder that a wheel has."""

import importlib
import os
import platform
import subprocess
import sys

import pytest

from gpuprof.jit import DISABLED, PLAIN, build
from gpuprof.jit.arguments import kinds_from, text_of
from gpuprof.jit.cached import Stored
from gpuprof.jit.processor import levels
from tests.paths import ROOT, SAMPLES
from tests.support.command import process

pytestmark = pytest.mark.skipif(DISABLED or PLAIN, reason="nothing of ours is compiled")
FEW = [
    "emulate.scalar.elementary.tanh(f4)",
    "emulate.scalar.fused.fma32_rows(f4[1C],f4[1C],f4[1C],f4[1C])",
    "emulate.trace_log.regroup.add_up_rows(u4[1C],i8[1C])",
]


@pytest.mark.parametrize("line", build.lines(), ids=lambda line: f"{line.function}-{line.kinds[:30]}")
def test_a_line_names_a_compiled_function_and_kinds(line):
    function = getattr(importlib.import_module(f"gpuprof.{line.module}"), line.function)
    assert isinstance(function, Stored)
    assert f"{line.module}.{line.function}" == function.name
    assert text_of(kinds_from(line.kinds)) == line.kinds


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_bytes_twice_and_nothing_is_made_again(tmp_path, monkeypatch):
    lines = [build.Line.of(text) for text in FEW]
    monkeypatch.setattr(build, "lines", lambda: lines)
    processors = list(levels())
    for name, jobs in (("a", 1), ("b b", 2)):
        assert build.build(tmp_path / name, processors, jobs) == len(FEW)
    first = contents(tmp_path / "a")
    assert len(first) == len(FEW) * len(processors)
    assert first == contents(tmp_path / "b b")
    assert sorted({build.function_of(path) for path in (tmp_path / "a").iterdir()}) == FEW
    times = [path.stat().st_mtime_ns for path in (tmp_path / "a").iterdir()]
    assert build.build(tmp_path / "a", processors, 1) == 0
    assert [path.stat().st_mtime_ns for path in (tmp_path / "a").iterdir()] == times
    monkeypatch.setattr(build, "lines", lambda: lines[1:])
    (tmp_path / "a" / "of.another.version-0123456789abcdef.code").write_bytes(b"")
    assert build.build(tmp_path / "a", processors, 1) == 0
    assert len(contents(tmp_path / "a")) == (len(FEW) - 1) * len(processors)


ROWS = """\
import numpy as np
from gpuprof.emulate.matrices import matrix
from gpuprof.emulate.scalar import elementary, fused, small_rows

random = np.random.default_rng(7)
bits = random.integers(0, 1 << 32, 20_000, np.uint64).astype(np.uint32)
single = bits.view(np.float32)
double = random.integers(0, 1 << 63, 9_000, np.uint64).view(np.float64)
x, y, z = double.reshape(3, -1)
out, low = np.empty_like(x), np.empty(20_000, np.float32)
results = [getattr(elementary, name)(single) for name in ("sin", "cos", "exp2", "tanh")]
results += [elementary.log2(x), fused.fma64(x, y, z), fused.multiply32(single, single[::-1])]
fused.fma64_rows(x, y, z, out)
fused.fma32_rows(single, single[::-1].copy(), single, low)
a, b, c, d = (random.standard_normal((n, 32)) for n in (2, 1, 4, 4))
matrix.multiply_doubles(a, b, c, d)
codes = np.empty(3_000, np.uint32)
small_rows.codes(x, 10, -14, 0x7C00, 0x7FFF, 0x8000, codes)
import hashlib
print(hashlib.sha256(b"".join(row.tobytes() for row in (*results, out, low, d, codes))).hexdigest())
"""


@pytest.mark.long
@pytest.mark.skipif(len(levels()) < 2 or platform.machine() != "x86_64", reason="one level of processors")
def test_processors_give_the_same_bytes(tmp_path):
    """Floats whose last bits would show a product and a sum contracted, or a sum in another order; a run with its
    cycles.
    """
    digests, recordings = set(), set()
    for cpu in levels():
        cache = {"NUMBA_CPU_NAME": cpu, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", ROWS], cwd=ROOT, env=os.environ | cache, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
        flags = ("--period", "64", "-o", f"{cpu}.gprec")
        code, _, error = process(tmp_path, "collect", SAMPLES / "matmul.cu", *flags, **cache)
        assert code == 0, error
        recordings.add((tmp_path / f"{cpu}.gprec").read_bytes())
    assert (len(digests), len(recordings)) == (1, 1)
