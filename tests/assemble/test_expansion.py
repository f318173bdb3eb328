"""Issue slots of single operations beside what ptxas makes of them, for five generations."""

import tempfile
from pathlib import Path

import pytest

from gpuprof.isa.encoding import decode, make
from gpuprof.timing.state.expansion import generation_of, on_architecture
from tests.ptxas.expansion import (
    ARCHITECTURES,
    TYPES,
    Operation,
    Row,
    installed,
    kernel,
    measure,
    module,
    operations,
    read_table,
)
from tests.support.ptx_support import assemble_text

ROWS = {row.ptx: row for row in read_table()}
# Operations whose code has paths that are not run, or not always: (fewest, most) of ours beside all that stands in
# line, and why.
PATHS = {
    "div.s64": (70, 90, "a call: the subroutine runs always"),
    "div.u64": (55, 74, "a call: the subroutine runs always"),
    "rem.s64": (65, 84, "a call: the subroutine runs always"),
    "rem.u64": (55, 70, "a call: the subroutine runs always"),
    "div.s32": (23, 26, "24 are executed"),
    "rem.s32": (21, 24, "22 are executed"),
    "div.rn.f32": (
        9,
        12,
        "10 are executed (tests/ptxas/sass_operations.py): the call of the slow path, in line, is not",
    ),
    "rcp.rn.f32": (9, 12, "10 are executed"),
    "sqrt.rn.f32": (9, 13, "10 are executed"),
    "div.rn.f64": (15, 21, "16 are executed"),
    "rcp.rn.f64": (10, 15, "11 are executed"),
    "sqrt.rn.f64": (17, 23, "18 are executed"),
}


@pytest.fixture(scope="module")
def assembled() -> dict[str, list]:
    """Our instructions of each operation's kernel, and of those without one."""
    wanted = {f"k{number}": operation for number, operation in enumerate(operations())}
    wanted |= {f"base_{letter}": Operation(letter, "") for letter in TYPES}
    program = assemble_text(module("sm_90", [kernel(name, operation) for name, operation in wanted.items()]))
    found = {}
    for function in program.functions:
        key = wanted[function.name].ptx or wanted[function.name].result
        found[key] = [decode(row) for row in program.code[function.first : function.first + function.count]]
    return found


def slots(instructions: list, arch: str) -> int:
    return sum(on_architecture(instruction, arch).op.slots for instruction in instructions)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_slots_of_every_operation(assembled, arch):
    wrong = []
    for result, ptx in operations():
        theirs = ROWS[ptx].inline[arch]
        ours = slots(assembled[ptx], arch) - slots(assembled[result.replace("-", "r")], arch)
        fewest, most, _ = PATHS.get(
            "" if ptx.endswith(" 7") else ptx.split()[0], (theirs * 0.9 - 1, theirs * 1.1 + 1, "")
        )
        if theirs >= 0 and not fewest <= ours <= most:
            wrong.append((ptx, ours, theirs))
    assert wrong == []


def test_generations_by_name():
    assert [generation_of(name) for name in ("sm_75", "sm_90a", "sm_100f", "sm_70", "sm_35", "gfx90a", "xe-hpc")] == [
        75,
        90,
        100,
        70,
        80,
        80,
        80,
    ]


def test_sixty_four_bit_integers_of_a_later_generation():
    """sm_120 has IADD.64, 64-bit compares and minima; the generation between two that were measured is as the older."""
    for name, slots_of in (
        ("IADD.64", {"sm_89": 2, "sm_103": 2, "sm_120": 1}),
        ("IMIN.S64", {"sm_70": 4, "sm_100": 4, "sm_121": 1}),
    ):
        assert {arch: on_architecture(make(name), arch).op.slots for arch in slots_of} == slots_of


def test_integers_become_floats_on_another_unit():
    units = {arch: on_architecture(make("CVT.F32.S32"), arch).op.pipe for arch in ("sm_75", "sm_80", "sm_86", "sm_90")}
    assert units == {"sm_75": "xu", "sm_80": "xu", "sm_86": "alu", "sm_90": "alu"}


@pytest.mark.skipif(not installed(), reason="ptxas and nvdisasm are not both installed: nothing to measure with")
def test_the_table_is_what_ptxas_says():
    with tempfile.TemporaryDirectory() as folder:
        found = measure("sm_80", Path(folder))
    assert found == {
        row.ptx: (row.inline["sm_80"], row.out_of_line["sm_80"]) for row in ROWS.values() if isinstance(row, Row)
    }
