"""The report's values: what the queries read, and that every cost stands in exactly one row."""

import sqlite3
from collections import Counter

import pytest

from gpuprof.correlate.frames import Position
from gpuprof.errors import UsageError
from gpuprof.isa.stalls import INDEX
from gpuprof.report.estimates import wilson
from gpuprof.report.model import total
from gpuprof.report.queries import read_report
from gpuprof.report.sections import LISTINGS, hottest, select_lines, source_sections, whole_function
from gpuprof.report.totals import totals
from tests.support.report_database import BASE, CODE, KERNEL, counters_of, cycles_of, make_database, samples_of

LAUNCHES = 2


def report_of(tmp_path, **bend):
    filters = {key: bend.pop(key) for key in ("kernel_filter", "launch") if key in bend}
    with sqlite3.connect(make_database(tmp_path / "t.gpudb", **bend)) as db:
        return read_report(db, filters.get("kernel_filter"), filters.get("launch"))


def test_the_kernel_has_the_sums_of_the_tables(tmp_path):
    (kernel,) = report_of(tmp_path).kernels
    cycles, samples = Counter(), Counter()
    for index in range(len(CODE)):
        cycles.update({reason: LAUNCHES * n for reason, n in cycles_of(index).items()})
        samples.update({reason: LAUNCHES * n for reason, n in samples_of(index).items()})
    assert {reason: n for reason, n in zip(INDEX, kernel.cost.cycles, strict=True) if n} == cycles
    assert {reason: n for reason, n in zip(INDEX, kernel.cost.samples, strict=True) if n} == samples
    assert tuple(kernel.cost.counters) == tuple(
        LAUNCHES * sum(column) for column in zip(*map(counters_of, range(len(CODE))), strict=True)
    )


@pytest.mark.parametrize("page", LISTINGS)
def test_every_cost_stands_in_one_row(tmp_path, page):
    (kernel,) = report_of(tmp_path).kernels
    sections = LISTINGS[page](kernel)
    rows = [row for section in sections for row in section.rows]
    assert total(row.cost for row in rows) == kernel.cost
    assert sorted(i.pc for row in rows for i in row.instructions) == [BASE + 16 * index for index in range(len(CODE))]
    shares = [row.cost.warp_cycles / kernel.cost.warp_cycles for row in rows]
    assert sum(shares) == pytest.approx(1, abs=1e-12)


def test_source_rows_are_the_function_from_signature_to_brace(tmp_path):
    (kernel,) = report_of(tmp_path).kernels
    own, inlined = source_sections(kernel)
    assert (own.function, own.path, [row.number for row in own.rows]) == (
        KERNEL,
        "samples/transpose.cu",
        [*range(5, 17), 0],
    )
    assert (inlined.function, inlined.path, [row.number for row in inlined.rows]) == (
        "at",
        "samples/index.cuh",
        [3, 4, 5],
    )
    by_line = Counter()
    for index, (line, in_header, *_) in enumerate(CODE):
        by_line[("index.cuh", in_header) if in_header else ("transpose.cu", line)] += LAUNCHES * sum(
            cycles_of(index).values()
        )
    got = {
        (section.path.removeprefix("samples/"), row.number): row.cost.warp_cycles
        for section in (own, inlined)
        for row in section.rows
    }
    assert {place: cycles for place, cycles in got.items() if cycles} == by_line


def test_inlined_code_counts_at_its_line_and_in_the_call_sites_inclusive_cost(tmp_path):
    (kernel,) = report_of(tmp_path).kernels
    own, inlined = source_sections(kernel)
    call = next(row for row in own.rows if row.number == 13)
    helper = 4 * LAUNCHES * 712  # four instructions of `at`, 512 + 200 warp-cycles each
    assert call.inclusive.warp_cycles == call.cost.warp_cycles + helper
    assert [(site, cost.warp_cycles) for site, cost in inlined.call_sites] == [
        (Position(KERNEL, "samples/transpose.cu", 13), helper),
        (Position(KERNEL, "samples/transpose.cu", 14), helper),
    ]
    assert inlined.rows[1].cost.warp_cycles == 2 * helper


def test_addresses_outside_every_module_stay_in_the_sum(tmp_path):
    path = make_database(tmp_path / "t.gpudb", launches=1)
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO ledger VALUES (0, 9999999, 2, 1000)")
        (kernel,) = read_report(db).kernels
    assert kernel.cost.warp_cycles == sum(sum(cycles_of(i).values()) for i in range(len(CODE))) + 1000
    assert kernel.instructions[-1].text == "(an address outside every module)"
    assert total(row.cost for section in source_sections(kernel) for row in section.rows) == kernel.cost


def test_one_launch_is_half_of_two(tmp_path):
    both = report_of(tmp_path).kernels[0]
    (tmp_path / "t.gpudb").unlink()
    one = report_of(tmp_path, launch=1).kernels[0]
    assert [launch.launch for launch in one.launches] == [1]
    assert 2 * one.cost.warp_cycles == both.cost.warp_cycles


def test_totals_by_hand(tmp_path):
    report = report_of(tmp_path)
    found = totals(report.kernels[0], report.chip)
    ledger = sum(sum(cycles_of(i).values()) for i in range(len(CODE)))
    assert found.theoretical_occupancy == 8 * 8 / 64  # 8 blocks of 8 warps, 64 slots
    assert found.achieved_occupancy == pytest.approx(ledger / (8000 * 64))
    assert found.issue_utilisation == pytest.approx((512 * 39 + 128) / (8000 * 4))
    assert found.tensor_utilisation is None  # nothing is multiplied
    assert (found.l1_hit_rate, found.l2_hit_rate) == (1024 / 18432, 8704 / 17408)
    assert (found.limiter, found.dram_read_nbytes) == ("warps", 2 * 65536)


@pytest.mark.parametrize(
    "bend, message",
    [
        ({"kernel_filter": "matmul"}, "--kernel 'matmul' finds no kernel; the file has: transpose_naive"),
        (
            {"kernel_filter": "("},
            "--kernel '(' is not a regular expression: missing ), unterminated subpattern at position 0",
        ),
        ({"launch": 7}, "--launch 7: there is no such launch in the file; it has launches 0 to 1"),
        # more than an integer of SQLite's
        ({"launch": 1 << 63}, f"--launch {1 << 63}: there is no such launch in the file; it has launches 0 to 1"),
    ],
)
def test_filters_that_find_nothing(tmp_path, bend, message):
    with pytest.raises(UsageError) as error:
        report_of(tmp_path, **bend)
    assert str(error.value) == message


def test_hottest_lines_in_order(tmp_path):
    (kernel,) = report_of(tmp_path).kernels
    assert [row.number for row in hottest(source_sections(kernel))] == [14, 9]


def test_selecting_lines(tmp_path):
    (kernel,) = report_of(tmp_path).kernels
    sections = source_sections(kernel)
    assert [[row.number for row in section.rows] for section in select_lines(sections, 13, 14)] == [[13, 14]]
    assert select_lines(sections, 1, 4) == ()


@pytest.mark.parametrize(
    "function, text, span, expected",
    [
        ("f", "void f() {\n  a;\n}\n", (2, 2), (1, 3)),
        (
            "scan<256>",
            "template <int N>\n__global__ void scan(int n)\n{\n  {\n    a;\n  }\n}\nint x;\n",
            (5, 5),
            (2, 7),
        ),
        ("space::g", "void g()\n{\n  a; }\n", (3, 3), (1, 3)),
        # behind another function's end
        ("h", "void other() {\n  h();\n}\nvoid unnamed() {\n  a;\n}\n", (5, 5), (5, 5)),
        ("kernel", "def kernel(x):\n    y = x\n    return y\n", (2, 3), (1, 3)),
        ("f", "", (4, 9), (4, 9)),
    ],
)
def test_whole_function(function, text, span, expected):
    assert whole_function(text.splitlines(), function, *span) == expected


def score_bound(hits: int, n: int, side: int) -> float:
    """Wilson's bounds are where the score test just fails: |hits/n - p| = z * sqrt(p (1 - p) / n). Found by
    bisection.
    """
    z, share = 1.959963984540054, hits / n
    inside, outside = share, 0.0 if side < 0 else 1.0
    for _ in range(200):
        p = (inside + outside) / 2
        if abs(share - p) <= z * (p * (1 - p) / n) ** 0.5:
            inside = p
        else:
            outside = p
    return inside


@pytest.mark.parametrize(
    "hits, n", [(1, 10), (3, 7), (9, 10), (50, 100), (1, 100_000), (0, 20), (20, 20), (123_456, 1_000_000)]
)
def test_wilson_against_the_score_test(hits, n):
    low, high = wilson(hits, n)
    assert low == pytest.approx(score_bound(hits, n, -1), abs=1e-9)
    assert high == pytest.approx(score_bound(hits, n, +1), abs=1e-9)
    assert 0 <= low <= hits / n <= high <= 1


def test_wilson_published():
    """Newcombe 1998, table I: 81 of 263 and 15 of 148, score method without continuity correction."""
    assert [round(end, 4) for end in wilson(81, 263)] == [0.2553, 0.3662]
    assert [round(end, 4) for end in wilson(15, 148)] == [0.0624, 0.1605]
    assert wilson(0, 0) == (0.0, 1.0)
