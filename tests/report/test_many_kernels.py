"""Databases of thousands of kernels: each one's rows are found by their keys, and a text is taken apart once."""

import sqlite3
from contextlib import closing

import pytest

from gpuprof.base.text_lines import lines_of
from gpuprof.correlate.correlate import add_advice
from gpuprof.correlate.database import reading
from gpuprof.report.model import SELECTED
from gpuprof.report.queries import Code, read_report, touched_functions
from tests.support.recordings import gpuprof
from tests.support.report_database import CU, make_database

STEPS = 1_000  # of SQLite's machine, between two counts


def with_kernels(path, n):
    """`n` more kernels of one instruction with one launch, which took 10 cycles."""
    make_database(path)
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {n}) "
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in (
            "functions {} SELECT i, 0, 'k' || i, 'k' || i, 1, 1000000 + 16 * i, 1, 24, 0, 0, 0 FROM n",
            "instructions {} SELECT 1000000 + 16 * i, 0, i, 'EXIT', 'EXIT', 0, 3, 0, 3, '', '', 0, '', 0 FROM n",
            "launches {} SELECT i + 10, i, 'k' || i, '1,1,1', '1,1,1', 0, 0, '', 1000 * i, 1000 * i + 10, 10, 0, 0, 0, "
            "0, 1 FROM n",
            "ledger {} SELECT i + 10, 1000000 + 16 * i, 0, 10 FROM n",
            "inline_frames {} SELECT 1000000 + 16 * i, 1, 'at', 0, 9 FROM n",
        ):
            db.execute(f"INSERT INTO {statement.format(numbers)}")
        db.execute("DELETE FROM findings")
        add_advice(db, 0)
    return path


def steps_of(path):
    """How many thousand steps SQLite makes for a report."""
    found = []
    with reading(path) as db:
        db.set_progress_handler(lambda: found.append(1) and None, STEPS)
        read_report(db)
    return len(found)


@pytest.mark.long
def test_work_grows_with_the_rows(tmp_path):
    few, many = (steps_of(with_kernels(tmp_path / f"{n}.gpudb", n)) for n in (200, 800))
    assert many < 5 * few  # it was 16 times as much


def test_every_kernel_has_its_own_rows(tmp_path):
    with reading(with_kernels(tmp_path / "a.gpudb", 3)) as db:
        report = read_report(db)
        one = read_report(db, launch=12)
    assert [kernel.name for kernel in report.kernels] == ["transpose_naive", "k1", "k2", "k3"]
    for number, kernel in enumerate(report.kernels[1:], 1):
        (instruction,) = kernel.instructions
        assert (instruction.pc, instruction.cost.cycles[SELECTED]) == (1000000 + 16 * number, 10)
        assert instruction.positions == (("at", "samples/transpose.cu", 3), (f"k{number}", "samples/transpose.cu", 9))
        assert [launch.launch for launch in kernel.launches] == [10 + number]
    assert one.kernels == report.kernels[2:3]


CODES = [Code(0x100, 0x140, 7), Code(0x140, 0x140, 8), Code(0x140, 0x180, 9), Code(0x200, 0x210, 3)]


@pytest.mark.parametrize(
    ("pcs", "functions"),
    [
        ([], []),
        ([0xF0], []),
        ([0x100, 0x110, 0x130], [7]),
        ([0x130, 0x140], [7, 9]),
        ([0x0, 0x170, 0x180, 0x190, 0x200, 0x300], [9, 3]),
    ],
)
def test_the_functions_that_hold_an_address(pcs, functions):
    assert list(touched_functions(CODES, pcs)) == functions


@pytest.mark.long
def test_more_functions_than_sqlite_takes_parameters(tmp_path):
    n = 33_000  # the limit is 32,766
    with_kernels(tmp_path / "a.gpudb", n)
    code, _, error = gpuprof(tmp_path, "export", "a.gpudb", "-o", "a.folded")
    assert (code, error) == (0, "")
    assert len((tmp_path / "a.folded").read_text().splitlines()) > n


def test_lines_are_those_that_a_compiler_counts(tmp_path):
    """Form feeds and other ends of lines of Unicode's are in a line."""
    assert lines_of("a\n\fb\r\nc\x0b\x1c\x85d\u2028\re\n") == ("a", "\fb", "c\x0b\x1c\x85d\u2028", "e")
    assert (lines_of(""), lines_of("\n"), lines_of("a")) == ((), ("",), ("a",))
    make_database(tmp_path / "a.gpudb")
    make_database(tmp_path / "b.gpudb", source=CU.replace("// LAUNCH", "\f// \u2028 LAUNCH"))
    for page in ("source", "summary", "blame"):
        expected = gpuprof(tmp_path, "report", "a.gpudb", "--page", page)
        assert gpuprof(tmp_path, "report", "b.gpudb", "--page", page) == expected
