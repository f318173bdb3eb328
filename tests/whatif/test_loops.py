"""Loops as places of what-ifs."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.isa.encoding import INSTRUCTION_NBYTES, make
from gpuprof.isa.program import Location
from gpuprof.whatif.baseline import baseline_of
from gpuprof.whatif.bounds import AT_LINES
from gpuprof.whatif.candidates import at_places
from gpuprof.whatif.places import LOOP, places
from tests.support.command import gpuprof
from tests.support.timing_support import COUNTED, access, warp
from tests.timing.test_timing import A64, ffma
from tests.whatif.hand import subject

LINES = f'inherits = "a100"\nsms = 1\n{COUNTED}'
LOAD = make("LDG.32", dst=0, a=2, mods=A64)


def back(instructions):
    return make("BRA", guard=0, imm=-INSTRUCTION_NBYTES * instructions & 0xFFFFFFFF)


# Basic blocks: 0 is the code before, 1 begins the outer loop, 2 is the inner one, 3 ends the outer one, 4 exits.
CODE = [ffma(0, 0), LOAD, ffma(1, 0), back(2), ffma(3, 1), back(5), make("EXIT")]
OUTER, INNER = [1, 2, 3, 4, 5], [2, 3]


@pytest.fixture
def baseline_at(chip_of):
    """The nested loops as a launch, whose instructions have some locations. Two turns of the outer loop have three of
    the inner one each.
    """

    def made(locations):
        starts = [1, 2, 2, 2, 3]  # the blocks of a turn, but for the first block of the program: 0 has the first of 1
        some = subject(
            chip_of(LINES), CODE, [warp([0, *starts, *starts, 4], [access([k << 20]) for k in range(2)])]
        )  # fmt: skip
        program = some.launch.module.program
        some.launch.module.program = SimpleNamespace(functions=program.functions, locations=tuple(locations))
        return baseline_of(some)

    return made


def at(*lines):
    return [Location("/src/k.cu", line) if line else None for line in lines]


def found(baseline):
    return [(p.name, np.flatnonzero(p.insts).tolist(), p.path, p.line, p.last_line) for p in places(baseline, LOOP)]


def test_nested_loops(baseline_at):
    assert found(baseline_at(at(1, 12, 13, 14, 15, 11, 20))) == [
        ("loop at k.cu:11-15", OUTER, "/src/k.cu", 11, 15),
        ("loop at k.cu:13-14", INNER, "/src/k.cu", 13, 14),
    ]


def test_loops_of_the_same_lines_have_addresses(baseline_at):
    """Code is loaded at 0x1000."""
    assert found(baseline_at(at(1, 12, 12, 12, 12, 12, 20))) == [
        ("loop at k.cu:12 0x1010", OUTER, "/src/k.cu", 12, 12),
        ("loop at k.cu:12 0x1020", INNER, "/src/k.cu", 12, 12),
    ]


def test_loops_without_lines(baseline_at):
    assert found(baseline_at([None] * 7)) == [("loop 0x1010", OUTER, "", 0, 0), ("loop 0x1020", INNER, "", 0, 0)]


def test_lines_are_those_of_the_function_that_has_the_loop(baseline_at):
    """The outer loop is in the kernel, which calls a function at line 30, whose inner loop calls one of its own."""
    call = Location("/src/k.cu", 30)
    inner = [
        Location("/src/f.h", 2, inlined_at=Location("/src/f.h", 6, inlined_at=call)),
        Location("/src/f.h", 5, inlined_at=call),
    ]
    locations = [*at(1, 29), *inner, *at(31, 28, 40)]
    assert found(baseline_at(locations)) == [
        ("loop at k.cu:28-31", OUTER, "/src/k.cu", 28, 31),
        ("loop at f.h:5-6", INNER, "/src/f.h", 5, 6),
    ]


def test_a_bound_is_the_sum_of_those_of_the_instructions(baseline_at):
    baseline = baseline_at(at(1, 12, 13, 14, 15, 11, 20))
    outer, _ = places(baseline, LOOP)
    shares = {each.intervention.kind: each.share for each in at_places(baseline, [outer], ("sooner", "free"))}
    for kind, share in shares.items():
        rule = AT_LINES[kind]
        applies = rule.applies(baseline.inst)
        single = [np.arange(len(CODE)) == index for index in OUTER if applies[index]]
        assert baseline.share(sum(rule.costs(baseline, one) for one in single)) == pytest.approx(share, rel=1e-12)
    assert list(shares) == ["sooner", "free"]


KERNEL = """// LAUNCH: nested<<<1, 64>>>(in: f32[65536]=random, out: f32[512], 4, 4)
__global__ void nested(const float *in, float *out, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    #pragma unroll 1
    for (int row = 0; row < rows; row++) {
        #pragma unroll 1
        for (int column = 0; column < columns; column++) {
            sum += in[i + 512 * (row * columns + column) % 65536];
            __syncthreads();
        }
        sum *= 0.5f;
    }
    out[i] = sum;
}
"""


def rows_of(folder, *words):
    code, out, error = gpuprof(folder, "whatif", "nested.cu", "--only", "l2_hits", "--by", "loop", *words)
    assert (code, error) == (0, "")
    return out


def test_the_command(tmp_path):
    """The only loads are the inner loop's, so both loops are the same to them."""
    (tmp_path / "nested.cu").write_text(KERNEL)
    document = json.loads(rows_of(tmp_path, "--json"))
    kinds = [(row["kind"], row["place"]) for row in document["rows"]]
    assert kinds == [("l2_hits", "loop at nested.cu:7-13"), ("l2_hits", "loop at nested.cu:9-11")]
    outer, inner = ({**row, "place": ""} for row in document["rows"])
    assert outer == inner and inner["cycles_after"] < inner["cycles_before"]

    lines = [line.split("  ") for line in rows_of(tmp_path, "--line", "nested.cu:13").splitlines() if "x  " in line]
    assert [line[-3:-1] for line in lines] == [["l2_hits", "loop at nested.cu:7-13"]]
