"""Divisions, reciprocals and roots take more issue slots where operands are near an end of the range: as many as in
ptxas' code.
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.emulate.scalar.slow_paths import extra_slots
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.timing.extrapolate import issue_slots
from tests.ptxas.expansion import installed
from tests.ptxas.sass_operations import executed
from tests.support.running import run_source

INF, NAN = float("inf"), float("nan")
# Slots of an instruction whose operands are these in all lanes, counted in ptxas 13.0's code for sm_80 as it runs.
DIVISIONS = {
    (0, 1): 10, (1e38, 3): 10, (-0.0, 3): 10, (-1, -1): 10,
    (0, 0): 38, (1, 0): 49, (INF, 0): 49, (INF, 2): 49, (2, INF): 45, (INF, INF): 42, (NAN, 1): 35, (0, 1e-40): 45,
    (1e30, 1e-20): 59, (1e-20, 1e20): 83, (1e-40, 3): 106, (3, 1e-40): 82, (1e-38, 0.5): 78, (1e-36, 2): 55,
    (3, 1e38): 55, (3, 3.4e38): 83, (1e-40, 1e-40): 78, (1e-44, 1e4): 84,
}  # fmt: skip
RECIPROCALS = {1: 10, 1e30: 10, -1: 10, 0: 30, 1e-40: 30, INF: 24, NAN: 24, 1e38: 53}
ROOTS = {1: 10, 1e30: 10, 1e-20: 10, 0: 17, INF: 33, 1e-36: 33, 1e-44: 33, NAN: 23, -1: 20}
CASES = [
    *(("FDIV", operands, slots) for operands, slots in DIVISIONS.items()),
    *(("FRCP", (operand,), slots) for operand, slots in RECIPROCALS.items()),
    *(("FSQRT", (operand,), slots) for operand, slots in ROOTS.items()),
]
PTX = {"FDIV": "div.rn.f32", "FRCP": "rcp.rn.f32", "FSQRT": "sqrt.rn.f32"}


def slots_of(name: str, *rows: np.ndarray) -> list[int]:
    """Of each warp, for rows of f32."""
    beside = extra_slots(BY_NAME[name].number, rows, np.ones(len(rows[0]), np.bool_))
    return (BY_NAME[name].slots + beside).tolist()


def test_slots_by_operands():
    found = [(n, operands, *slots_of(n, *(np.full(32, o, np.float32) for o in operands))) for n, operands, _ in CASES]
    assert list(map(str, found)) == list(map(str, CASES))


@pytest.mark.long
@pytest.mark.skipif(not installed(), reason="ptxas and nvdisasm are not both installed: nothing to count in")
@pytest.mark.parametrize("name", PTX)
def test_slots_are_those_of_ptxas(name):
    with tempfile.TemporaryDirectory() as folder:
        beside = executed("add.f32" if name == "FDIV" else "mov.b32", Path(folder)) - (name == "FDIV")
        found = [
            (n, operands, executed(PTX[name], Path(folder), (*operands, 0)[:2]) - beside)
            for n, operands, _ in CASES
            if n == name
        ]
    assert list(map(str, found)) == [str(case) for case in CASES if case[0] == name]


def test_a_warp_takes_the_parts_of_all_its_lanes():
    """1 / 0 and 0 / 0 share all parts but their last; the second warp's lanes stay on the usual path."""
    a = np.array([1, 0, *[5] * 62], np.float32)
    b = np.array([0, 0, *[5] * 62], np.float32)
    assert slots_of("FDIV", a, b) == [49 + 2, 10]
    # A lane on the usual path adds the four slots that the others leave out.
    assert slots_of("FSQRT", a) == [17 + 4, 10]


SOURCE = """
__global__ void quotient(float *out, float a, float b)
{
    asm volatile("div.rn.f32 %0, %1, %2;" : "=f"(out[threadIdx.x]) : "f"(a), "f"(b));
}

// Lanes from `first` on divide, the others are left out.
__global__ void guarded(float *out, float a, float b, int first)
{
    asm volatile("{ .reg .pred p; setp.ge.s32 p, %3, %4; @p div.rn.f32 %0, %1, %2; }"
                 : "+f"(out[threadIdx.x]) : "f"(a), "f"(b), "r"((int)threadIdx.x), "r"(first));
}
"""


def slots(tmp_path, *launches: str) -> list[int]:
    """Issue slots of each launch, as timed; the counters, which stand for launches timed in part, have as many."""
    _, results = run_source(tmp_path, SOURCE, *launches, chip_name="a100")
    for result in results.launches:
        module = result.launch.module
        assert result.timing.issue_slots == issue_slots(module, load_chip("a100"), result.counters)
    return [result.timing.issue_slots for result in results.launches]


def test_launches_take_them(tmp_path):
    """Two warps: what 0 / 0, 1 / 0 and a small quotient take more than 1 / 2."""
    pairs = ("1.0, 2.0", "0.0, 0.0", "1.0, 0.0", "1e-20, 1e20")
    usual, *others = slots(tmp_path, *(f"quotient<<<1, 64>>>(f32[64], {pair})" for pair in pairs))
    assert [other - usual for other in others] == [2 * 28, 2 * 39, 2 * 73]


def test_lanes_that_are_left_out_take_none(tmp_path):
    """Of two warps both, one and none have a lane that divides 0 by 0."""
    usual, *others = slots(
        tmp_path,
        "guarded<<<1, 64>>>(f32[64], 1.0, 2.0, 0)",
        *(f"guarded<<<1, 64>>>(f32[64], 0.0, 0.0, {first})" for first in (31, 63, 64)),
    )
    assert [other - usual for other in others] == [2 * 28, 28, 0]
