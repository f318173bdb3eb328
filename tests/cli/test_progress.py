"""What is said of stages, on a terminal of any width and in a log, with times that the tests choose."""

import io
import os
import sys

import pytest

from gpuprof.base.stages import Stage, stage
from gpuprof.cli.progress.bar import Bar
from gpuprof.cli.progress.display import BAR_AFTER_SECONDS, Display, painter, wanted_stream
from gpuprof.cli.progress.lines import Lines, next_due, plain_line
from gpuprof.cli.progress.stalls import Stall, Stalls
from gpuprof.cli.progress.terminal import Terminal
from gpuprof.cli.progress.words import duration, title, with_prefix
from gpuprof.errors import UsageError
from tests.support.screen import Screen

START = 100.0


class Tty(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Sets up a terminal so many columns wide."""

    def of_width(columns: int, **environment: str) -> Tty:
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in ({"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "40"} | environment).items():
            monkeypatch.setenv(name, value)
        return Tty()

    return of_width


def launch_stages(**changes) -> list[Stage]:
    """The second of three launches, a quarter done after 12 s at START + 12."""
    launches = Stage("", "launches", 3, each="launch", done=1, since=START)
    launch = Stage("saxpy<<<64, 256>>>", warp_instructions=25_000_000, place="saxpy.cu:7", since=START)
    blocks = {"unit": "blocks", "of": 65_536, "done": 16_384, "cycles": 1_234_567, "since": START} | changes
    return [launches, launch, Stage("", **blocks)]


FAILED = Stage("", "runs", 8, each="run", done=3, failed=2, since=START)
NOT_KNOWN = Stage("merging", "parts", None, done=1200, since=START)
PARTLY = Stage("reading a.gprec", "kB", 2000, done=500, since=START)
LINES = {
    "a launch": (
        launch_stages(),
        12,
        "launch 2 of 3: saxpy<<<64, 256>>>: 16,384 of 65,536 blocks, 1,234,567 cycles, 25,000,000 warp instructions "
        "(2.1 M/s), 12 s, 36 s left",
    ),
    "its beginning": (
        launch_stages(done=0, cycles=0),
        0.5,
        "launch 2 of 3: saxpy<<<64, 256>>>: 0 of 65,536 blocks, 25,000,000 warp instructions",
    ),
    "a compiler inside": (
        [*launch_stages(cycles=0), Stage("compiling the timing model", since=START + 10)],
        12,
        "launch 2 of 3: saxpy<<<64, 256>>>: compiling the timing model: 2 s",
    ),
    "runs of a sweep": ([FAILED], 90, "3 of 8 runs, 2 failed, 1 min 30 s, 2 min 30 s left"),
    "one of one": (
        [Stage("", "launches", 1, each="launch", since=START), Stage("k<<<1, 1>>>", since=START)],
        3,
        "k<<<1, 1>>>: 3 s",
    ),
    "a run, in this process": ([FAILED, Stage("compiling a.cu", since=START)], 3, "run 4 of 8: compiling a.cu: 3 s"),
    "no end known": ([NOT_KNOWN], 3, "merging: 1,200 parts, 3 s"),
    "a file": ([PARTLY], 3, "reading a.gprec: 500 of 2,000 kB, 3 s, 9 s left"),
    "nothing to do": ([Stage("reading", "kB", 0, since=START)], 3, "reading: 0 of 0 kB, 3 s"),
    "a name with an escape": ([Stage("compiling \x1b[2J.cu", since=START)], 3, "compiling \\x1b[2J.cu: 3 s"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_of_a_log(name):
    stages, seconds, line = LINES[name]
    assert plain_line(stages, START + seconds, shows_place=False) == line


def test_a_line_says_where_a_kernel_stands_when_asked():
    assert plain_line(launch_stages(), START + 12, shows_place=True) == (
        "launch 2 of 3: saxpy<<<64, 256>>>: 16,384 of 65,536 blocks, 1,234,567 cycles, 25,000,000 warp instructions "
        "(2.1 M/s), at saxpy.cu:7, 12 s, 36 s left"
    )


def test_lines_come_now_and_then():
    out = io.StringIO()
    lines, stages = Lines(out, START), [Stage("compiling a.cu", since=START)]
    for tenth in range(1200):
        lines.draw(stages, START + tenth / 10, shows_place=False)
    assert out.getvalue().splitlines() == [
        f"gpuprof: compiling a.cu: {text}"
        for text in ("2 s", "5 s", "10 s", "20 s", "40 s", "1 min 10 s", "1 min 40 s")
    ]


def test_a_line_that_was_late_is_not_made_up_for():
    """Nothing to say from 3 s to 50 s: one line then, and the next in its turn."""
    out = io.StringIO()
    lines, stages = Lines(out, START), [Stage("compiling a.cu", since=START)]
    for second in (2, 3, 50, 51, 69, 70, 71):
        lines.draw(stages, START + second, shows_place=False)
    assert [line.rpartition(": ")[2] for line in out.getvalue().splitlines()] == ["2 s", "50 s", "1 min 10 s"]
    assert [next_due(second) for second in (0, 2, 39, 40, 69, 70, 75, 100)] == [2, 5, 40, 70, 70, 100, 100, 130]


def drawn(out: Tty, columns: int) -> list[str]:
    return Screen(columns).feed(out.getvalue().replace("\n", "\r\n")).text()


@pytest.mark.parametrize("columns", [1, 2, 10, 20, 30, 40, 60, 80, 100, 140, 200])
def test_the_bar_fits_any_width(terminal, columns):
    out = terminal(columns)
    bar = Bar(out)
    for second in range(1, 30):
        bar.draw(launch_stages(done=2000 * second), START + second, shows_place=second > 5)
    (row,) = drawn(out, columns) or [""]
    assert len(row) < columns or columns == 1
    assert row.startswith("launch 2 of 3: saxpy<<<64, 256>>>"[: max(0, columns // 3 - 1)])
    bar.erase()
    assert drawn(out, columns) == []


def test_the_bar_on_a_wide_terminal(terminal):
    out = terminal(200)
    Bar(out).draw(launch_stages(), START + 12, shows_place=True)
    (row,) = drawn(out, 200)
    title_, bar, *rest = row.split("  ")
    assert title_ == "launch 2 of 3: saxpy<<<64, 256>>>"
    assert len(bar) == 20 and set(bar) <= set("━╸╺")
    assert rest == [
        "25 %",
        "16,384 of 65,536 blocks",
        "1,234,567 cycles",
        "25,000,000 warp instructions",
        "2.1 M/s",
        "at saxpy.cu:7",
        "12 s",
        "36 s left",
    ]


def test_a_narrow_terminal_keeps_what_tells_most(terminal):
    out = terminal(20)
    Bar(out).draw(launch_stages(), START + 12, shows_place=True)
    assert drawn(out, 20) == ["launch 2 of 3  12 s"]
    out = terminal(60)
    Bar(out).draw(launch_stages(), START + 12, shows_place=True)
    assert drawn(out, 60) == ["launch 2 of 3: saxpy<  25 %  at saxpy.cu:7  12 s  36 s left"]


def test_a_bar_on_a_terminal_that_became_narrower_goes_with_all_its_rows(terminal, monkeypatch):
    out, columns = terminal(100), [100]
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("rich.console.os.get_terminal_size", lambda _: os.terminal_size((columns[0], 40)))
    bar = Bar(out)
    bar.draw(launch_stages(), START + 12, shows_place=False)
    (row,) = drawn(out, 100)
    columns[0] = 40
    out.truncate(out.seek(0))
    bar.erase()
    assert out.getvalue() == "\x1b[A" * (-(-len(row) // 40) - 1) + "\r\x1b[J"


def test_without_colours_there_is_no_style(terminal):
    out = terminal(80, NO_COLOR="1")
    Bar(out).draw(launch_stages(), START + 12, shows_place=False)
    assert "\x1b" not in out.getvalue() and out.getvalue().startswith("launch 2 of 3: ")


def test_lines_where_the_cursor_cannot_move(terminal):
    assert isinstance(painter(terminal(80), START), Bar)
    assert isinstance(painter(terminal(80, TERM="dumb"), START), Lines)
    assert isinstance(painter(io.StringIO(), START), Lines)


def test_durations_and_rates():
    assert [duration(seconds) for seconds in (-1, 0.9, 59.9, 60, 3599, 3600, 360_000)] == [
        "0 s",
        "0 s",
        "59 s",
        "1 min 0 s",
        "59 min 59 s",
        "1 h 0 min",
        "100 h 0 min",
    ]
    assert [with_prefix(value) for value in (0.4, 999, 1000, 2_100_000, 3e9)] == [
        "0 ",
        "999 ",
        "1.0 k",
        "2.1 M",
        "3.0 G",
    ]


# Kernels that do not end


def test_a_launch_whose_blocks_do_not_finish():
    """Once for a launch; the bar says it on, until a block finishes. Later blocks may take as long as others did."""
    stalls, stages = Stalls(), launch_stages(done=0)
    launch, blocks = stages[1:]

    def looked(seconds: float, n_instructions: int, done: int) -> Stall:
        launch.warp_instructions, blocks.done = n_instructions, done
        return stalls.look(stages, START + seconds)

    text = (
        "launch 2 of 3: saxpy<<<64, 256>>>: no block has finished for {} s; it is at saxpy.cu:7, after {:,} warp "
        "instructions; --max-instructions N or Ctrl-C stops it"
    )
    assert looked(0, 10, 0) == ("", False)
    assert looked(29.9, 9_000, 0) == ("", False)
    assert looked(30, 10_000, 0) == (text.format(30, 10_000), True)
    assert looked(30.3, 10_100, 0) == (text.format(30, 10_100), False)
    assert looked(31, 10_200, 1) == ("", False)
    assert looked(154.9, 20_000, 1) == ("", False)  # four times the 31 s of the first
    assert looked(155, 20_100, 1) == (text.format(124, 20_100), False)


def test_short_blocks_have_five_seconds():
    stalls, stages = Stalls(), launch_stages(done=0)
    launch, blocks = stages[1:]
    for second in range(4):
        launch.warp_instructions, blocks.done = 1000 * second, second
        assert stalls.look(stages, START + second) == ("", False)
    launch.warp_instructions = 5000
    assert stalls.look(stages, START + 7.9) == ("", False)
    assert "no block has finished for 5 s" in stalls.look(stages, START + 8).text


@pytest.mark.parametrize(
    "stages",
    [
        launch_stages(),  # nothing moves: it waits
        [FAILED],
        [*launch_stages(), Stage("compiling the timing model", since=START)],
    ],
)
def test_what_is_no_loop(stages):
    stalls = Stalls()
    assert [stalls.look(stages, START + second).text for second in range(20)] == [""] * 20


# The display


def test_quick_work_shows_nothing(terminal):
    out = terminal(80)
    display = Display(out, START)
    with stage("starting"):
        display.tick(START + BAR_AFTER_SECONDS - 0.1)
    assert out.getvalue() == ""
    display.tick(START + 50)  # nothing is under way
    assert out.getvalue() == ""


def test_the_bar_goes_while_somebody_prints_and_comes_back(terminal):
    """stdout and stderr are one terminal."""
    out = terminal(60)
    display = Display(out, START)
    with stage("compiling a.cu"):
        display.tick(START + 3)
        assert drawn(out, 60)[0].startswith("compiling a.cu")
        with display.away():
            out.write("hello\n")
        assert drawn(out, 60) == ["hello"]
        display.tick(START + 4)
        assert [row.split("  ")[0] for row in drawn(out, 60)] == ["hello", "compiling a.cu"]
        with display.away():
            out.write("world\n")
    assert drawn(out, 60) == ["hello", "world"]


def test_the_bar_leaves_a_line_that_a_kernel_did_not_end(terminal, monkeypatch):
    out = terminal(60)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    display = Display(out, START)
    with stage("k<<<1, 1>>>"), Terminal(display) as shown:
        shown.output("no newline")
        display.tick(START + 3)
        assert [row.split("  ")[0] for row in drawn(out, 60)] == ["no newline", "k<<<1, 1>>>"]
        shown.output(", and on\n")
    assert drawn(out, 60) == ["no newline", ", and on"]


class Interrupted(Tty):
    """Ctrl-C comes in the middle of what is written."""

    def write(self, text: str) -> int:
        super().write(text[:4])
        if len(text) > 20 and "part" not in text:
            raise KeyboardInterrupt
        return super().write(text[4:])


def test_an_interrupt_inside_a_kernel_s_output_leaves_no_empty_line(terminal, monkeypatch):
    terminal(60)
    out = Interrupted()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    with pytest.raises(KeyboardInterrupt), Terminal(Display(out, START)) as shown:
        try:
            shown.output("line 1 of many\n" * 10)
        except KeyboardInterrupt:
            shown.notice("the part before can be read")
            raise
    assert drawn(out, 60) == ["line", "gpuprof: the part before can be read"]
    assert out.getvalue().endswith("read\n")


def test_the_bar_goes_when_the_work_ends(terminal):
    """A script prints with `print`, which knows nothing of bars; between its launches no stage is open."""
    out = terminal(60)
    with Display(out, START - 50) as display:
        with stage("compiling a.cu"):
            display.tick(START)
            assert drawn(out, 60) != []
        assert drawn(out, 60) == []
        out.write("printed\n")
    assert drawn(out, 60) == ["printed"]


def test_a_display_that_ends_leaves_the_line_clean(terminal):
    out = terminal(60)
    with stage("compiling a.cu"):
        with Display(out, START - 50) as display:
            display.tick(START)
        assert drawn(out, 60) == []
        written = out.getvalue()
        display.tick(START + 1)
        assert out.getvalue() == written


class Gone(Tty):
    n_writes = 0

    def write(self, text: str) -> int:
        self.n_writes += 1
        raise OSError(5, "Input/output error")


def test_a_terminal_that_goes_away_stops_nobody(terminal):
    """It is written to once, and then no more."""
    terminal(60)
    gone = Gone()
    with Display(gone, START - 50) as display, stage("compiling a.cu"):
        display.tick(START)
        display.tick(START + 1)
    assert gone.n_writes == 1


def test_what_the_variable_may_say(monkeypatch):
    out = io.StringIO()
    monkeypatch.delenv("GPUPROF_PROGRESS")
    assert wanted_stream(out) is out and wanted_stream(None) is None
    monkeypatch.setenv("GPUPROF_PROGRESS", "off")
    assert wanted_stream(out) is None
    monkeypatch.setenv("GPUPROF_PROGRESS", "no")
    with pytest.raises(UsageError) as error:
        wanted_stream(out)
    assert str(error.value) == (
        "GPUPROF_PROGRESS=no: the only value is off, for no progress on stderr; unset it otherwise"
    )


def test_titles():
    assert title([FAILED, *launch_stages()]) == "run 4 of 8: launch 2 of 3: saxpy<<<64, 256>>>"
    assert title([Stage("", "passes", None, each="pass", done=1), Stage("k")]) == "pass 2: k"
