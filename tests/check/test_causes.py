"""Causes of differences: which one a verdict names, and the digest of a kernel's code that tells two of them."""

import sqlite3

import pytest

from gpuprof.check.causes import CAUSES, OF_ORIGIN, cause_of_change, check_origin
from gpuprof.check.compare import compare
from gpuprof.check.facts import (
    Facts,
    LaunchFacts,
    LineKey,
    code_digests,
    code_origins,
    kernel_lines,
    line_costs,
    places,
)
from gpuprof.check.rules import parse_rule
from gpuprof.correlate.identity.launch_names import LaunchKey
from gpuprof.correlate.schema import DDL
from gpuprof.errors import NotComparable
from gpuprof.isa.encoding import make
from tests.check.test_check import BLUR, check, write_blur

ORIGIN = {"model": "5.0", "chip": "h100", "chip_sha256": "1", "compiler": "clang 22", "host": "none"}
LAUNCH = LaunchKey("k<<<8, 64>>>", 1)


def facts(tool: str = "0.1.0", cache: str = "cold", **origin: str) -> Facts:
    return Facts(tool, ORIGIN | origin, {LAUNCH: LaunchFacts({"cycles": 100}, {}, cache=cache)})


# All that differs -> the first cause.
DIFFERENT = [
    ({"tool": "0.0.9", "model": "4.0", "compiler": "clang 21", "chip": "a100"}, "gpuprof"),
    ({"compiler": "clang 21", "chip": "a100", "model": "4.0", "host": "pcie5", "cache": "warm"}, "compiler"),
    ({"chip": "a100", "chip_sha256": "2", "model": "4.0", "host": "pcie5"}, "chip"),
    ({"chip_sha256": "2", "model": "4.0"}, "chip"),
    ({"model": "4.0", "host": "pcie5"}, "model"),
    ({"host": "pcie5", "cache": "warm"}, "host"),
    ({"cache": "warm"}, "cache"),
]


@pytest.mark.parametrize(("changes", "cause"), DIFFERENT)
def test_the_first_cause_of_what_cannot_be_compared(changes, cause):
    with pytest.raises(NotComparable) as caught:
        compare(facts(**changes), facts(), [parse_rule("cycles=1%")])
    assert caught.value.cause == cause
    assert list(CAUSES).index(cause) < list(CAUSES).index("launch")


def test_causes_are_in_one_order():
    """That of the difference which says most, first."""
    assert list(dict.fromkeys(OF_ORIGIN.values())) == ["compiler", "chip", "model", "host"]
    assert list(CAUSES) == ["gpuprof", "compiler", "chip", "model", "host", "cache", "launch", "code", "data"]
    assert [cause.name for cause in CAUSES.values() if cause.compares] == ["launch", "code", "data"]


def test_a_baseline_of_an_older_gpuprof():
    with pytest.raises(NotComparable) as caught:
        check_origin(facts(tool="0.0.9", model="4.0"), facts())
    assert str(caught.value) == (
        "the baseline was made by gpuprof 0.0.9, model 4.0; this is 0.1.0, model 5.0: `gpuprof check --against REV` "
        "compares both states with this gpuprof, or write a new one with --update"
    )


@pytest.mark.parametrize(
    ("old", "new", "has_other_shape", "cause"),
    [
        ("a", "a", False, "data"),
        ("a", "b", False, "code"),
        ("a", "b", True, "launch"),
        ("", "b", False, ""),  # a baseline that has no digest
    ],
)
def test_causes_of_changes(old, new, has_other_shape, cause):
    assert cause_of_change(LaunchFacts({}, {}, code=old), LaunchFacts({}, {}, code=new), has_other_shape) == cause


OTHER_CODE = (make("LDG.32", dst=2, a=0), *BLUR[1:])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "only its data changed"),
        ({"code": OTHER_CODE}, "its code changed"),
        ({"code": OTHER_CODE, "launch": {"dynamic_shared_nbytes": 128}}, "its launch changed"),
        ({"source": ["//", *(f"    line{n};" for n in range(9))]}, "only its data changed"),  # same instructions
    ],
)
def test_a_regression_says_its_cause(tmp_path, changes, words):
    write_blur(tmp_path / "now.gprec")
    check(tmp_path, "--update")
    write_blur(tmp_path / "now.gprec", cycles=(1000,), **changes)
    regressed = next(line for line in check(tmp_path)[1].splitlines() if line.startswith("regressed"))
    assert regressed.endswith(f"limit 1%|200, {words}")


# The digest.


@pytest.fixture
def database():
    database = sqlite3.connect(":memory:")
    database.executescript(DDL)
    return database


def add_function(database, number: int, first_pc: int, *texts: str, is_kernel: bool = True, module: int = 0) -> None:
    database.execute(
        "INSERT INTO functions VALUES (?, ?, 'k', 'k', ?, ?, ?, 8, 0, 0, 0)",
        (number, module, is_kernel, first_pc, len(texts)),
    )
    for index, text in enumerate(texts):
        opcode = text.removeprefix("@P0 ").split()[0]
        row = (first_pc + 16 * index, module, number, text, opcode, None, 0, 0, 0, "", "", 0, "", 0)
        database.execute(f"INSERT INTO instructions VALUES ({','.join('?' * len(row))})", row)


def test_the_place_of_code_is_no_part_of_its_digest(database):
    """A branch is the same when it leads as far; an immediate that looks like an address is one more number."""
    add_function(database, 0, 0x1000, "MOV R0, 0x1010", "@P0 BRA 0x1000", "EXIT")
    add_function(database, 1, 0x8000, "MOV R0, 0x1010", "@P0 BRA 0x8000", "EXIT")
    add_function(database, 2, 0x9000, "MOV R0, 0x1010", "@P0 BRA 0x9010", "EXIT")
    add_function(database, 3, 0xA000, "MOV R0, 0xa010", "@P0 BRA 0xa000", "EXIT")
    digests = code_digests(database)
    assert digests[0] == digests[1]
    assert len({digests[number] for number in (1, 2, 3)}) == 3


def test_functions_that_a_kernel_may_call_are_part_of_its_digest(database):
    add_function(database, 0, 0x1000, "CALL helper", "EXIT")
    alone = code_digests(database)
    add_function(database, 1, 0x2000, "RET", is_kernel=False)
    with_helper = code_digests(database)
    add_function(database, 2, 0x3000, "RET", is_kernel=False, module=1)  # of another module
    assert code_digests(database) == with_helper != alone
    assert set(alone) == {0}


def test_kernels_of_the_same_code_are_told_apart_by_no_boundary(database):
    """An instruction that moved from a function into another one is another code."""
    add_function(database, 0, 0x1000, "NOP", "EXIT")
    add_function(database, 1, 0x2000, "RET", is_kernel=False)
    first = code_digests(database)[0]
    database.execute("DELETE FROM instructions")
    database.execute("DELETE FROM functions")
    add_function(database, 0, 0x1000, "NOP")
    add_function(database, 1, 0x2000, "EXIT", "RET", is_kernel=False)
    assert code_digests(database)[0] != first


# Positions of inlined code.


def add_inlined(database, pc: int, *frames: tuple[str, int]) -> None:
    """`frames`: the innermost first."""
    numbers = dict(database.execute("SELECT path, source FROM sources"))
    for path, _ in frames:
        if path not in numbers:
            numbers[path] = len(numbers)
            database.execute(
                "INSERT INTO sources VALUES (?, ?, ?)",
                (numbers[path], path, "\n".join(f"{path} {n}" for n in range(1, 30))),
            )
    (path, line), *callers = frames
    database.execute("UPDATE instructions SET source = ?, line = ? WHERE pc = ?", (numbers[path], line, pc))
    for depth, (path, line) in enumerate(callers, 1):
        database.execute("INSERT INTO inline_frames VALUES (?, ?, 'f', ?, ?)", (pc, depth, numbers[path], line))


def test_a_line_knows_the_inlined_code_that_costs_most(database):
    """Line 5 of the kernel calls code of two headers; each metric has its own costliest line there."""
    add_function(database, 0, 0, "A", "B", "C", "EXIT")
    add_inlined(database, 0, ("lib.cuh", 9), ("util.cuh", 3), ("k.cu", 5))
    add_inlined(database, 16, ("util.cuh", 4), ("k.cu", 5))
    add_inlined(database, 32, ("k.cu", 5))
    add_inlined(database, 48, ("k.cu", 2), ("k.cu", 7))  # a function of the kernel's own file
    database.execute("INSERT INTO launches VALUES (0, 0, 'k', '1,1,1', '32,1,1', 0, 0, '', 0, 9, 9, 0, 0, 0, 0, 1)")
    for pc, cycles, executed in ((0, 50, 1), (16, 20, 9), (32, 30, 2), (48, 5, 1)):
        database.execute("INSERT INTO ledger VALUES (0, ?, 0, ?)", (pc, cycles))
        columns = [column for _, column, *_ in database.execute("PRAGMA table_info(counters)")]
        values = {"launch": 0, "pc": pc, "inst_executed": executed}
        database.execute(
            f"INSERT INTO counters VALUES ({','.join('?' * len(columns))})", [values.get(name, 0) for name in columns]
        )
    origins = code_origins(database)
    lines = line_costs(database, origins)[0]
    cost = lines[LineKey("k.cu", "k.cu 5", 1)]
    assert cost.place == "k.cu:5"
    assert (cost.values["warp_cycles"], cost.values["inst_executed"]) == (100, 12)
    assert cost.positions("warp_cycles") == (("lib.cuh", 9), ("util.cuh", 3), ("k.cu", 5))
    assert cost.positions("inst_executed") == (("util.cuh", 4), ("k.cu", 5))
    assert lines[LineKey("k.cu", "k.cu 2", 1)].positions("warp_cycles") == (("k.cu", 2),)
    assert places(database)[0] == ("k.cu", 5)
    assert kernel_lines(database, origins) == {0: ("k.cu", 2)}
