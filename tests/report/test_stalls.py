"""The stalls page and what other pages say of stall lengths, on the report's small database with stalls written by
hand.
"""

import csv
import io
import json
import sqlite3
from dataclasses import replace

import pytest
from rich.cells import cell_len

from gpuprof.isa.stalls import INDEX
from gpuprof.isa.vocabularies import VOCABULARIES
from gpuprof.report.model import Row, Stalls
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.pages.stalls import histogram, scale
from gpuprof.report.queries import read_report
from gpuprof.report.render import csv_page, json_page, text_page
from gpuprof.report.terminal.styles import Look
from gpuprof.report.waits import Waits, joined, range_of, sentence
from tests.support.report_database import BASE, KERNEL, cycles_of, make_database

PIPE = Look(None, "", True, True)
# instruction, reason: {least cycles: stalls}, longest, of each launch. Their cycles are those of
# report_database.SPECIAL.
STALLS = {
    (15, "long_scoreboard"): ({2: 200, 16: 50, 1024: 1}, 1300),
    (20, "long_scoreboard"): ({32: 496, 64: 16}, 100),
    (21, "long_scoreboard"): ({512: 15}, 700),
    (21, "lg_throttle"): ({1: 500, 2: 3000, 4: 3050, 1024: 6}, 1500),
    (39, "drain"): ({2048: 1}, 4000),
}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = make_database(tmp_path_factory.mktemp("stalls") / "t.gpudb")
    with sqlite3.connect(path) as db:
        for launch in range(2):
            for (index, reason), (lengths, longest) in STALLS.items():
                key = launch, BASE + 16 * index, INDEX[reason]
                db.execute("INSERT INTO stalls VALUES (?, ?, ?, ?, ?)", (*key, sum(lengths.values()), longest))
                db.executemany(
                    "INSERT INTO stall_lengths VALUES (?, ?, ?, ?, ?)", [(*key, *item) for item in lengths.items()]
                )
    return path


@pytest.fixture(scope="module")
def report(database):
    with sqlite3.connect(database) as db:
        return read_report(db)


def page_of(report, look, **request):
    return [text.plain for text in text_page(report, look, Request("stalls", **request))][6:]


def test_the_page_in_a_pipe(report):
    """Both launches together: twice the counts, the same longest. Line 14 has two instructions that wait for
    long_scoreboard: 2 x (18000 + 9000) cycles in 2 x 527 stalls. Of 184,720 cycles 39 instructions issue in 2 x 512
    each and EXIT in 2 x 128: 144,528 are stalled.
    By the middles of bins line 13 waits 400 x 3 + 100 x 24 cycles in short stalls and 2 x 1536 in long ones: fewer than
    half."""
    assert sum(n for i in range(40) for reason, n in cycles_of(i).items() if reason != "selected") * 2 == 144_528
    assert page_of(report, PIPE) == [
        "",
        "# transpose_naive  144,528 stalled warp-cycles",
        "share  reason           stalls    mean  longest  cycles:stalls                 kind        line             "
            "source",
        "41.5%  lg_throttle       13112     4.6     1500  1:1000,2:6000,4:6100,1024:12  many-short  transpose.cu:14  "
            "out[at(x, y + i, n)] = value;",
        "37.4%  long_scoreboard    1054    51.2      700  32:992,64:32,512:30           middling    transpose.cu:14  "
            "out[at(x, y + i, n)] = value;",
        " 5.5%  drain                 2  4000.0     4000  2048:2                        long        -                "
            "(code without a source line)",
        " 4.2%  long_scoreboard     502    12.0     1300  2:400,16:100,1024:2           many-short  transpose.cu:13  "
            "float value = in[at(y + i, x, n)];",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
@pytest.mark.parametrize("isa", [False, True])
def test_never_wider_than_the_terminal(report, width, isa):
    for blocks in (True, False):
        assert all(cell_len(line) <= width for line in page_of(report, Look(width, "", blocks, False), isa=isa))


def test_by_instruction(report):
    lines = page_of(report, PIPE, isa=True)
    assert [line.split()[1] for line in lines[3:]] == [
        "lg_throttle",
        "long_scoreboard",
        "long_scoreboard",
        "drain",
        "long_scoreboard",
    ]
    assert lines[4].endswith("  0x1140   IMAD.WIDE D6, R20, 4, c[0x10]")


def test_the_csv_is_by_instruction_and_sums_to_the_tables(report, database):
    rows = list(csv.DictReader(io.StringIO(csv_page(report, Request("stalls")))))
    assert [(r["Kernel Name"], r["Address"], r["Line"], r["Reason"], r["Kind"]) for r in rows[:2]] == [
        (KERNEL, "0x1150", "14", "lg_throttle", "many short"),
        (KERNEL, "0x1140", "14", "long_scoreboard", "middling"),
    ]
    with sqlite3.connect(database) as db:
        for least, name in ((1, "1"), (2, "2-3"), (32, "32-63"), (1024, "1024-2047")):
            (n,) = db.execute("SELECT SUM(stalls) FROM stall_lengths WHERE least_cycles = ?", (least,)).fetchone()
            assert sum(int(r[f"Stalls Of {name}"]) for r in rows) == n
    assert {int(r["Stalls"]) for r in rows} == {2 * sum(lengths.values()) for lengths, _ in STALLS.values()}


def test_the_listings_have_a_line_s_stalls(report):
    """Line 14: 2 x (6556 + 15 + 512) stalls of 2 x (30000 + 9000 + 18000) cycles and of 2 x 976 more that no stall is
    written for.
    """
    heading, *rows = list(csv.reader(io.StringIO(csv_page(report, Request("source")))))[1:]
    (line,) = (
        dict(zip(heading, row, strict=True)) for row in rows if row[heading.index("Line")] == "14" and "out[" in row[1]
    )
    assert (line["Stalls (Exact)"], line["Longest Stall Cycles (Exact)"]) == ("14166", "1500")
    assert float(line["Mean Stall Cycles (Exact)"]) == round((2 * 57_000 + 2 * 976) / 14166, 6)


def test_json(report):
    (kernel,) = json.loads(json_page(report, Request("stalls")))["kernels"]
    assert kernel["stalls"][1] == {
        **{
            "path": "samples/transpose.cu",
            "line": 14,
            "reason": "long_scoreboard",
            "warp_cycles": 54_000,
            "stalls": 1054,
            "kind": "middling",
        },
        **{"mean_cycles": round(54_000 / 1054, 6), "longest_cycles": 700, "lengths": {"32": 992, "64": 32, "512": 30}},
    }
    (listed,) = json.loads(json_page(report, Request("isa")))["kernels"]
    (row,) = (row for section in listed["sections"] for row in section["rows"] if row["address"] == BASE + 16 * 39)
    assert row["stalls"]["drain"]["longest_cycles"] == 4000


def test_the_summary_says_it_of_the_hottest_line(report):
    lines = [text.plain for text in text_page(report, PIPE, Request("summary"))]
    assert (
        "# lengths    lg_throttle at transpose.cu:14, 13,112 stalls of 4.6 cycles on average, the longest of 1,500: "
        "many short ones"
    ) in lines


def test_without_stalls(tmp_path):
    with sqlite3.connect(make_database(tmp_path / "t.gpudb")) as db:
        assert page_of(read_report(db), PIPE)[1:] == [
            f"# {KERNEL}  144,528 stalled warp-cycles",
            "# no stall was recorded; collect again",
        ]


def waits(cycles, **lengths):
    lengths = tuple((int(least[1:]), n) for least, n in lengths.items())
    longest = 2 * lengths[-1][0] - 1
    return Waits("", Row(1, "", (), None, None), Stalls(3, sum(n for _, n in lengths), longest, lengths), cycles)


@pytest.mark.parametrize(
    ("found", "kind", "text"),
    [
        (waits(2_000_000, _512=3072), "long", "3,072 stalls of 512-1,023 cycles each"),
        (waits(5, _1=5), "many short", "5 stalls of 1 cycle each"),
        (waits(127, _64=1), "middling", "1 stall of 127 cycles"),
        (waits(1500, _1=500, _512=2), "few long", "502 stalls of 3.0 cycles on average, the longest of 1,023: few long "
            "ones have most of the cycles"),
        (waits(9000, _1=6000, _2=1000), "many short", "7,000 stalls of 1.3 cycles on average, the longest of 3: many "
            "short ones"),
        (waits(2000, _32=20, _64=10), "middling", "30 stalls of 66.7 cycles on average, the longest of 127"),
    ],
)  # fmt: skip
def test_in_words(found, kind, text):
    assert (found.kind, sentence(found)) == (kind, text)


def test_histograms():
    """A cell a bin, as high as its count; the smallest count is seen. Every fourth bin is named above."""
    lengths = ((1, 8), (4, 1), (16, 4))
    assert histogram(lengths, Look(80, "", True, False)).plain == "█ ▁ ▄"
    assert histogram(lengths, Look(80, "", False, False)).plain == "9.2.5"
    assert histogram(lengths, PIPE).plain == "1:8,4:1,16:4"
    assert scale(13) == "1   16  256 4"
    assert scale(24) == "1   16  256 4K  64K 1M  "
    assert [range_of(1), range_of(2), range_of(1024)] == ["1", "2-3", "1,024-2,047"]


def test_a_recording_that_was_cut_before_the_lengths():
    """Stalls are counted, of unknown lengths, on a terminal and in a pipe; their kind is not told."""
    cut = Waits("", Row(1, "", (), None, None), Stalls(3, 5, 9, ()), 20)
    assert cut.kind == "unknown"
    assert sentence(cut) == "5 stalls of 4.0 cycles on average, the longest of 9"
    for look in (Look(80, "", True, False), Look(80, "", False, False), PIPE):
        assert histogram(cut.stalls.lengths, look).plain == ""


def test_in_another_maker_s_terms(report):
    """Line 14's 2 x 488 cycles of drain, for which no stall is written, are MEMORY_THROTTLE to CUPTI as lg_throttle is:
    60,976 of 144,528.
    """
    rows = [line.split() for line in page_of(replace(report, vocabulary=VOCABULARIES["cupti"]), PIPE)[4:]]
    assert [row[:4] for row in rows[:2]] == [
        ["42.2%", "MEMORY_THROTTLE", "13112", "4.7"],
        ["37.4%", "MEMORY_DEPENDENCY", "1054", "51.2"],
    ]
    assert [row[1] for row in rows[2:]] == ["MEMORY_THROTTLE", "MEMORY_DEPENDENCY"]


def test_stalls_of_several_instructions(report):
    (kernel,) = report.kernels
    together = joined(i for i in kernel.instructions if i.pc in (BASE + 16 * 20, BASE + 16 * 21))
    assert together[INDEX["long_scoreboard"]] == Stalls(
        INDEX["long_scoreboard"], 1054, 700, ((32, 992), (64, 32), (512, 30))
    )
