"""The pages as text: whole pages, narrow terminals, colour and encoding, hostile names."""

import io
import json
import sqlite3
from dataclasses import replace

import pytest
from rich.cells import cell_len

from gpuprof.isa.stalls import NAMES
from gpuprof.report.pages import PAGES
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.queries import read_report
from gpuprof.report.render import json_page, text_page
from gpuprof.report.tasks.read_tasks import read_task_report
from gpuprof.report.terminal.bars import apportion, bar
from gpuprof.report.terminal.report_screen import console_for, look_for, write
from gpuprof.report.terminal.styles import REASON_LOOKS, Look
from tests.support.matrices import long_from
from tests.support.report_database import CU, make_database

PIPE = Look(None, "", True, True)


def report_of(tmp_path, **bend):
    path = tmp_path / "t.gpudb"
    path.unlink(missing_ok=True)
    with sqlite3.connect(make_database(path, **bend)) as db:
        add_tasks(db)
        report = read_report(db)
        return replace(report, related=read_task_report(db, None, None))


def add_tasks(db):
    """A task for each launch, and what the first makes for the second."""
    db.execute("INSERT INTO task_rows SELECT 0, display FROM functions")
    db.execute(
        "INSERT INTO tasks SELECT launch, NULL, 'launch', 0, kernel, 0, launch, 2 * launch, 2 * launch + 1, "
        "start_cycle, end_cycle, end_cycle - start_cycle, 0 FROM launches"
    )
    db.execute("INSERT INTO parameters SELECT 0, display, 'buffer', '', NULL, 4096, 64, 0 FROM functions")
    db.execute(
        "INSERT INTO stored_relations (kind, source, target, via, nbytes, origin) "
        "SELECT 'produces for', 0, 1, 0, 64, 'observed' WHERE (SELECT COUNT(*) FROM tasks) > 1"
    )


def lines_of(report, look, page="source", **request):
    return [text.plain for text in text_page(report, look, Request(page, **request))]


SOURCE_IN_A_PIPE = """\
# gpuprof    0.1.0, model 1, chip a100
# fidelity   no kernel was compared with timings of a real card
# kernel     transpose_naive, 2 launches
# samples    1,832, period 512 cycles (random), dropped 0, buffer full: no
# caches     keep (as the launches before left them)
# recording  complete

# transpose_naive  samples/transpose.cu:5-16  93.8%
   line  exact  incl.  sampled   interval  stalls   why                inst  slots  lanes  excess  conflicts  source
-     5      -      -        -          -  -        -                     -      -      -       -          -  __global__ void transpose_naive(int n, const float* in, float* out) {
-     6   2.3%      -     2.3%    1.7-3.1  #        wait:28            3072   3072   32.0       -          -      int x = blockIdx.x * 32 + threadIdx.x;
-     7   2.3%      -     2.3%    1.7-3.1  #        wait:28            3072   3072   32.0       -          -      int y = blockIdx.y * 32 + threadIdx.y;
-     8      -      -        -          -  -        -                     -      -      -       -          -
>>    9  13.9%      -    13.8%  12.3-15.4  #w       wait:28           18432  18432   32.0       -          -      for (int i = 0; i < 32; i += 8) {
-    10   2.3%      -     2.3%    1.7-3.1  #        wait:28            3072   3072   28.0       -          -          if (x >= n || y + i >= n) {
-    11      -      -        -          -  -        -                     -      -      -       -          -              return;
-    12      -      -        -          -  -        -                     -      -      -       -          -          }
-    13   4.7%   7.8%     4.6%    3.7-5.6  L        long_sb:70         2048   2048   32.0       -          -          float value = in[at(y + i, x, n)];
>>   14  63.9%  67.0%    64.2%  62.0-66.4  ggggLLLL lg:51,long_sb:46   2048   2048   32.0   28672          -          out[at(x, y + i, n)] = value;
-    15      -      -        -          -  -        -                     -      -      -       -          -      }
-    16      -      -        -          -  -        -                     -      -      -       -          -  }
-     -   4.5%      -     4.5%    3.6-5.5  D        drain:97           1024    256   32.0       -          -  (code without a source line)

# at  samples/index.cuh:3-5  6.2%
# inlined at transpose.cu:13 (3.1%), transpose.cu:14 (3.1%)
-     3      -      -        -          -  -        -                     -      -      -       -          -  __device__ inline int at(int row, int column, int n) {
-     4   6.2%      -     6.1%    5.1-7.3  #        wait:28            8192   8192   32.0       -          -      return row * n + column;
-     5      -      -        -          -  -        -                     -      -      -       -          -  }

# L long_scoreboard, g lg_throttle, # selected, w wait, D drain
"""  # noqa: E501

OVERVIEW_80 = """\
gpuprof    0.1.0 · model 1 · chip a100
fidelity   no kernel was compared with timings of a real card
kernel     transpose_naive · 2 launches
samples    1,832 · period 512 cycles (random) · dropped 0 · buffer full: no
caches     keep (as the launches before left them)
recording  complete

transpose_naive
  time       7.09 us · 10,000 cycles at 1410 MHz · 2 launches
  launch     grid 4x4 · block 32x8 · 24 registers
  occupancy  achieved 18.0% · theoretical 100.0% (limited by warps)
  issue      62.8% of the issue slots used
  stalls     long_scoreboard 32.5% · lg_throttle 32.5% · selected 21.8%
             LLLLLLLLLLLLLggggggggggggg#########wwwDD
  memory     36,864 sectors, 4.5x ideal
  caches     L1 hits 5.6% · L2 hits 50.0% · DRAM 131 KB read, 131 KB written
  hottest    63.9%  transpose.cu:14  out[at(x, y + i, n)] = value;
             13.9%  transpose.cu:9  for (int i = 0; i < 32; i += 8) {

  1. The grid has 16 blocks for 108 multiprocessors: 92 of them have nothing to
     do.
  2. transpose.cu:14 holds 80% of the stalled cycles, and 51% of its cycles are
     lg_throttle. The queue for local and global memory instructions is full.
     `gpuprof advise` measures what would shorten it. (gpuprof explain
     lg_throttle)
  3. Uncoalesced global access in transpose.cu:14: 32,768 sectors for 4,096, 8
     times the ideal. Let neighbouring threads touch neighbouring addresses, or
     go through shared memory. (gpuprof explain long_scoreboard)

transpose_naive  samples/transpose.cu:5-16  93.8%
   line  exact  incl. why                 source
      5                                   __global__ void transpose_naive(int n…
      6   2.3%        wait 28%                int x = blockIdx.x * 32 + threadI…
      7   2.3%        wait 28%                int y = blockIdx.y * 32 + threadI…
      8
>>    9  13.9%        wait 28%                for (int i = 0; i < 32; i += 8) {
     10   2.3%        wait 28%                    if (x >= n || y + i >= n) {
     11                                               return;
     12                                           }
     13   4.7%   7.8% long_sb 70%                 float value = in[at(y + i, x,…
>>   14  63.9%  67.0% lg 51% long_sb 46%          out[at(x, y + i, n)] = value;
         20.6%        long_sb 95%             | 0x1140 IMAD.WIDE D6, R20, 4, c[…
         43.3%        lg 75% long_sb 22%      | 0x1150 STG.32 [D6], R14
     15                                       }
     16                                   }
          4.5%        drain 97%           (code without a source line)

at  samples/index.cuh:3-5  6.2%
inlined at transpose.cu:13 (3.1%) · transpose.cu:14 (3.1%)
      3                                   __device__ inline int at(int row, int…
      4   6.2%        wait 28%                return row * n + column;
      5                                   }
left out at 80 columns: sampled, interval, stalls, inst, slots, lanes, excess (a
wider terminal, --width 150 or --format csv)

L long_scoreboard · g lg_throttle · # selected · w wait · D drain
"""

LAUNCHES_IN_A_PIPE = """\
# gpuprof    0.1.0, model 1, chip a100
# fidelity   no kernel was compared with timings of a real card
# kernel     transpose_naive, 2 launches
# samples    1,832, period 512 cycles (random), dropped 6, buffer full: yes
# caches     keep (as the launches before left them)
# recording  NOT COMPLETE, it was cut off; the numbers cover the part before
# note       interrupted by the user

launch  cycles  start  grid  block  regs  shared  stream  occupancy  due  kept  dropped  complete  kernel
     0    5000   1000   4x4   32x8    24       0       0     100.0%  919   916        3        no  transpose_naive
     1    5000   7000   4x4   32x8    24       0       0     100.0%  919   916        3        no  transpose_naive
"""


def test_source_page_in_a_pipe(tmp_path):
    assert "\n".join(lines_of(report_of(tmp_path), PIPE)) + "\n" == SOURCE_IN_A_PIPE


def test_overview_on_a_terminal_without_colour(tmp_path):
    assert "\n".join(lines_of(report_of(tmp_path), Look(80, "", True, False), "")) + "\n" == OVERVIEW_80


def test_launches_of_an_interrupted_recording(tmp_path):
    assert (
        "\n".join(lines_of(report_of(tmp_path, complete=False, dropped=3), PIPE, "launches")) + "\n"
        == LAUNCHES_IN_A_PIPE
    )


def test_a_launch_that_was_cut_off(tmp_path):
    """It has samples, but neither a ledger nor a time."""
    path = make_database(tmp_path / "t.gpudb", launches=1, complete=False, with_ledger=False)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE launches SET start_cycle = 0, end_cycle = 0, cycles = 0")
        # one of each launch that was in flight
        db.execute("UPDATE meta SET value = value || char(10) || value WHERE key = 'marks'")
        db.execute("DELETE FROM launch_metrics")
        report = read_report(db)
    row = (
        "     0       -      -   4x4   32x8    24       0       0          -  916   916        0        no  "
        "transpose_naive"
    )
    assert lines_of(report, PIPE, "launches")[-1] == row
    lines = lines_of(report, PIPE, "summary")
    assert lines[3:11] == [
        "# samples    916, period 512 cycles (random), dropped 0, buffer full: no",
        "# caches     keep (as the launches before left them)",
        "# recording  NOT COMPLETE, it was cut off; the numbers cover the part before",
        "# note       interrupted by the user",
        "",
        "# transpose_naive",
        "# time       unknown: it did not finish",
        "# launch     grid 4x4, block 32x8, 24 registers",
    ]
    assert lines[-1] == "# 3. 916 samples are few: a share is known only to within its interval."


def test_source_lines_bring_their_instructions(tmp_path):
    assert lines_of(report_of(tmp_path), PIPE, lines=(13, 13))[7:] == [
        "# transpose_naive  samples/transpose.cu:13-13  4.7%",
        "    line  exact  incl.  sampled  interval  stalls why         inst  slots  lanes  excess  conflicts  source",
        "-     13   4.7%   7.8%     4.6%   3.7-5.6  L      long_sb:70  2048   2048   32.0       -          -          "
        "float value = in[at(y + i, x, n)];",
        "- 0x10e0   0.8%      -     0.8%   0.5-1.3  #      wait:28     1024   1024   32.0       -          -      | "
        "IMAD.WIDE D4, R10, 4, c[0x8]",
        "- 0x10f0   3.9%      -     3.8%   3.0-4.8  L      long_sb:83  1024   1024   32.0       -          -      | "
        "LDG.32 R14, [D4]",
        "",
        "# L long_scoreboard, g lg_throttle, # selected, w wait, D drain",
    ]


def test_every_source_line_is_one_line_and_every_field_is_there(tmp_path):
    """What awk sees: ten fields before the source text, on as many lines as the listing has."""
    rows = [
        line.split(None, 9)
        for line in lines_of(report_of(tmp_path), PIPE)
        if line and not line.startswith(("#", "   line"))
    ]
    assert [row[1] for row in rows] == [*map(str, range(5, 17)), "-", "3", "4", "5"]
    assert all(len(row) >= 9 for row in rows)
    assert sum(float(row[2].rstrip("%")) for row in rows if row[2] != "-") == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize("width", long_from(2, [20, 200, 80, 40, 60, 120]))
@pytest.mark.parametrize("page", ["", *PAGES])
@pytest.mark.parametrize("plain", [False, True])
def test_never_wider_than_the_terminal(tmp_path, page, width, plain):
    hostile = CU.replace("value;", "値" * 90 + ";")
    report = report_of(tmp_path, kernel="名前の長い核" * 12, source=hostile, complete=False, dropped=1)
    lines = lines_of(report, Look(width, "", True, plain), page, isa=True)
    assert [line for line in lines if cell_len(line) > width] == []
    assert len(lines) > 6


def test_columns_drop_in_order(tmp_path):
    report = report_of(tmp_path)
    headings = {
        width: next(line.split() for line in lines_of(report, Look(width, "", True, False)) if "exact" in line)
        for width in (40, 60, 80, 100, 120)
    }
    assert headings == {
        40: ["line", "exact", "source"],
        60: ["line", "exact", "source"],
        80: ["line", "exact", "incl.", "why", "source"],
        100: ["line", "exact", "incl.", "stalls", "why", "inst", "lanes", "source"],
        120: ["line", "exact", "incl.", "stalls", "why", "inst", "slots", "lanes", "excess", "source"],
    }


def test_a_part_of_another_maker_is_named_as_such(tmp_path):
    words = {"maker": "AMD", "notes": "not an NVIDIA part: two warps for a wave"}
    lines = lines_of(report_of(tmp_path, chip_words=words), PIPE)
    assert lines[6] == "# note       chip a100: not an NVIDIA part: two warps for a wave"


def test_recordings_without_the_sentence_on_fidelity_are_read(tmp_path):
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM meta WHERE key = 'fidelity'")
        lines = lines_of(read_report(db), PIPE)
    assert lines[:2] == ["# gpuprof    0.1.0, model 1, chip a100", "# kernel     transpose_naive, 2 launches"]


def test_without_samples_the_ledger_still_shows(tmp_path):
    lines = lines_of(report_of(tmp_path, period_cycles=0, with_samples=False), Look(80, "", True, False))
    assert lines[3] == "samples    no sampling · dropped 0 · buffer full: no"
    assert next(line for line in lines if "line  " in line).split() == ["line", "exact", "incl.", "why", "source"]
    assert next(line for line in lines if line.startswith(">>   14")).split()[:4] == [">>", "14", "63.9%", "67.0%"]


def test_without_a_ledger_the_samples_show(tmp_path):
    """By hand: 588 of a launch's 916 samples at line 14, and 28 more inlined there."""
    lines = lines_of(report_of(tmp_path, with_ledger=False), Look(80, "", True, False))
    assert next(line for line in lines if "sampled" in line).split() == [
        "line",
        "incl.",
        "sampled",
        "why",
        "source",
    ]
    assert next(line for line in lines if line.startswith(">>   14")).split()[:5] == [
        ">>",
        "14",
        "67.2%",
        "64.2%",
        "lg",
    ]


def test_a_source_that_was_not_to_be_had(tmp_path):
    lines = lines_of(report_of(tmp_path, source=None), PIPE)
    # lines 6 to 14, as far as they have code
    assert sum(line.endswith("(the source text is not available)") for line in lines) == 6


def test_code_without_lines(tmp_path):
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE instructions SET source = NULL, line = 0")
        db.execute("DELETE FROM inline_frames")
        report = read_report(db)
    assert lines_of(report, PIPE)[7:] == [
        "# transpose_naive  100.0%",
        "   line   exact  incl.  sampled    interval  stalls   why                inst  slots  lanes  excess  "
        "conflicts  source",
        ">>    -  100.0%      -   100.0%  99.8-100.0  LLLgg##w long_sb:32,lg:32  40960  40192   31.7   28672  "
        "        -  (code without a source line)",
        "",
        "# the code has no line information: see --page ptx or --page isa",
        "# L long_scoreboard, g lg_throttle, # selected, w wait, D drain",
    ]


def test_paths_below_the_working_folder_are_relative(tmp_path, monkeypatch):
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE sources SET path = ? || path", (f"{tmp_path}/",))
        report = read_report(db)
    assert lines_of(report, PIPE)[7] == f"# transpose_naive  {tmp_path}/samples/transpose.cu:5-16  93.8%"
    monkeypatch.chdir(tmp_path)
    assert lines_of(report, PIPE)[7] == "# transpose_naive  samples/transpose.cu:5-16  93.8%"


def test_two_kernels(tmp_path):
    """The summary has a table of kernels; the overview annotates only the one with the most cycles."""
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO functions VALUES (1, 0, 'fill', 'fill', 1, 8192, 1, 8, 0, 0, 0)")
        db.execute("INSERT INTO instructions VALUES (8192, 0, 1, 'EXIT', 'EXIT', 0, 1, 0, 0, '', '', 0, '', 0)")
        db.execute(
            "INSERT INTO launches VALUES (2, 1, 'fill', '1,1,1', '32,1,1', 0, 0, '', 0, 30000, 30000, 0, 0, 0, 0, 1)"
        )
        db.execute("INSERT INTO ledger VALUES (2, 8192, 15, 30000)")
        both, one = read_report(db), read_report(db, kernel="^transpose")
    assert lines_of(both, PIPE, "")[7:10] == [
        "share    time  cycles  launches  top stall        kernel",
        "75.0%  21.3us   30000         1  drain            fill",
        "25.0%  7.09us   10000         2  long_scoreboard  transpose_naive",
    ]
    listings = [
        line
        for line in lines_of(both, PIPE, "")
        if "transpose.cu:" in line and not line.startswith(("# hottest", "# 1.", "# 2.", "# 3."))
    ]
    assert listings == ["# fill  samples/transpose.cu:1-1  100.0%"]
    assert one.header.kernels == ("transpose_naive",)


HOSTILE = "evil\x1b[31m\x1b]0;title\x07\u202e[bold red]x[/]\x9b2J\r"


@pytest.mark.parametrize("page", ["", *PAGES])
def test_text_cannot_act_on_the_terminal(tmp_path, page):
    report = report_of(tmp_path, kernel=HOSTILE, source=CU.replace("value;", HOSTILE + ";"))
    out = io.StringIO()
    console = console_for(out)
    write(text_page(report, Look(120, "", True, False), Request(page)), console)
    text = out.getvalue()
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\r", "\u202e"}
    assert "evil\\x1b[31m\\x1b]0;title\\x07\\u202e[bold red]x[/]\\x9b2J" in text


def test_json_is_safe_and_faithful(tmp_path):
    report = report_of(tmp_path, kernel=HOSTILE)
    text = json_page(report, Request("source"))
    assert text.isascii() and "\x1b" not in text
    assert json.loads(text)["kernels"][0]["name"] == HOSTILE


@pytest.mark.parametrize(
    "environment, colours",
    [
        ({}, ""),
        ({"FORCE_COLOR": "1", "TERM": "xterm-256color"}, "full"),
        ({"FORCE_COLOR": "1", "TERM": "xterm"}, "ansi"),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}, ""),
    ],
)
def test_colour_follows_the_environment(tmp_path, monkeypatch, environment, colours):
    for name in ("FORCE_COLOR", "NO_COLOR", "TERM", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    console = console_for(out)
    look = look_for(console, 100)
    assert (look.colours, look.plain) == (colours, not environment)
    write(text_page(report_of(tmp_path), look, Request("source")), console)
    out.flush()
    assert (b"\x1b[" in out.buffer.getvalue()) == bool(colours)


def test_ascii_terminals_get_ascii(tmp_path):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = console_for(out)
    look = look_for(console, 60)
    assert not look.blocks
    assert all(line.isascii() for line in lines_of(report_of(tmp_path), look, ""))
    assert all(line.isascii() for line in lines_of(report_of(tmp_path), Look(60, "", False, False), ""))


def test_bars():
    reasons = [0] * len(NAMES)
    reasons[NAMES.index("long_scoreboard")], reasons[NAMES.index("wait")] = 3, 1
    assert bar(tuple(reasons), 1.0, 8, Look(80, "", True, False)).plain == "LLLLLLww"
    assert bar(tuple(reasons), 0.5, 8, Look(80, "full", False, False)).plain == "LLLw"
    full = bar(tuple(reasons), 1.0, 8, Look(80, "full", True, False))
    assert [(full.plain[s.start : s.end], s.style) for s in full.spans] == [
        ("██████", REASON_LOOKS["long_scoreboard"].colour),
        ("██", REASON_LOOKS["wait"].colour),
    ]
    assert bar(tuple(reasons), 0.3, 8, Look(80, "full", True, False)).plain == "██▍"  # 2.4 cells
    assert bar(tuple(reasons), 0.0, 8, Look(80, "full", True, False)).plain == ""


@pytest.mark.parametrize(
    "weights, cells, expected", [([3, 1], 8, [6, 2]), ([1, 1, 1], 8, [3, 3, 2]), ([99, 1], 4, [4, 0]), ([5], 3, [3])]
)
def test_apportion(weights, cells, expected):
    assert apportion(weights, cells) == expected


def test_every_reason_has_a_letter_and_a_colour_of_its_own():
    assert set(REASON_LOOKS) == set(NAMES)
    assert (
        len({look.letter for look in REASON_LOOKS.values()})
        == len({look.colour for look in REASON_LOOKS.values()})
        == len(NAMES)
    )
