"""gpuprof export: the table of formats, where the output goes, and folded stacks as their readers read them."""

import gzip
import re
import shlex
import sqlite3
import subprocess
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from gpuprof.export import FORMATS
from gpuprof.export.paths.folded import frame
from gpuprof.export.tables.nsys_rows import NO_CALLS, NO_OPERATIONS
from gpuprof.export.write_export import format_of
from tests.paths import ROOT
from tests.support.command import PROGRAM, gpuprof, names, process
from tests.support.recordings import write_saxpy
from tests.support.report_database import make_database

SAXPY = """\
saxpy;[unknown];drain 60
saxpy;axpy;blas.h:7;long_scoreboard 600
saxpy;saxpy.cu:4;selected 4
"""


@pytest.fixture
def only_folded(monkeypatch):
    """The table as if it had no other format."""
    for name in set(FORMATS) - {"folded"}:
        monkeypatch.delitem(FORMATS, name)


def exported(folder: Path, name: str) -> str:
    assert gpuprof(folder, "export", name, "-o", "out.folded") == (0, "", "")
    return (folder / "out.folded").read_text()


def read_folded(text: str) -> Counter[tuple[str, ...]]:
    """Frames -> count, as the format's description has it: semicolons between frames, a space before the count. What
    flamegraph.pl and speedscope match has to be the same.
    """
    found: Counter[tuple[str, ...]] = Counter()
    for line in text.split("\n")[:-1]:
        stack, _, count = line.rpartition(" ")
        assert re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", line).groups() == (stack, count)  # flamegraph.pl
        assert not re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", stack)  # it would take this for the count before
        assert re.fullmatch(r"(.*) (\d+)", line).groups() == (stack, count)  # speedscope
        found[tuple(stack.split(";"))] += int(count)
    return found


def ledger_totals(path: Path) -> dict[str, int]:
    with sqlite3.connect(path) as db:
        return dict(
            db.execute("SELECT kernel, SUM(ledger.cycles) FROM ledger JOIN launches USING (launch) GROUP BY kernel")
        )


def kernel_totals(stacks: Counter[tuple[str, ...]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for frames, count in stacks.items():
        found[frames[0]] += count
    return found


def test_a_recording_as_folded_stacks(tmp_path):
    write_saxpy(tmp_path / "saxpy.gprec")
    assert exported(tmp_path, "saxpy.gprec") == SAXPY
    assert gpuprof(tmp_path, "correlate", "saxpy.gprec")[0] == 0
    assert exported(tmp_path, "saxpy.gpudb") == SAXPY
    assert names(tmp_path) == ["out.folded", "saxpy.gprec", "saxpy.gpudb"]


def test_counts_sum_to_the_ledger(tmp_path):
    """Two launches, and an inlined function at two lines: what the tables of the fixture say, line by line."""
    path = make_database(tmp_path / "t.gpudb")
    stacks = read_folded(exported(tmp_path, "t.gpudb"))
    assert kernel_totals(stacks) == ledger_totals(path) == {"transpose_naive": 184_720}
    assert stacks["transpose_naive", "transpose.cu:14", "lg_throttle"] == 2 * 30_000
    assert stacks["transpose_naive", "at", "index.cuh:4", "wait"] == 2 * 8 * 200
    assert stacks["transpose_naive", "[unknown]", "drain"] == 2 * 4000
    assert len(stacks) == 20


def test_a_called_function_stands_below_the_kernel(tmp_path):
    """Its code is not the kernel's, and a function may be inlined into it; an address outside has no name."""
    path = make_database(tmp_path / "t.gpudb", launches=1)
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO functions VALUES (1, 0, '_Z6helperi', 'helper(int)', 0, 4352, 6, 8, 0, 0, 0)")
        db.execute("UPDATE instructions SET function = 1 WHERE line = 4 OR pc = 4352 + 80")
        db.execute("INSERT INTO ledger VALUES (0, 32, 0, 7)")
    stacks = read_folded(exported(tmp_path, "t.gpudb"))
    assert kernel_totals(stacks) == ledger_totals(path)
    assert stacks["transpose_naive", "helper(int)", "at", "index.cuh:4", "wait"] == 8 * 200
    assert stacks["transpose_naive", "helper(int)", "transpose.cu:14", "lg_throttle"] == 30_000
    assert stacks["transpose_naive", "[unknown]", "selected"] == 7 + 128


def test_launches_of_a_kernel_are_one_stack_each(tmp_path):
    one = read_folded(exported(tmp_path, make_database(tmp_path / "one.gpudb", launches=1).name))
    two = read_folded(exported(tmp_path, make_database(tmp_path / "two.gpudb", launches=2).name))
    assert two == Counter({frames: 2 * count for frames, count in one.items()})


HOSTILE = "a<b;c>\n x 12 "


def test_names_cannot_part_a_stack(tmp_path):
    path = make_database(tmp_path / "t.gpudb", kernel=HOSTILE)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE sources SET path = 'folder/odd; name\n.cu' WHERE source = 0")
    stacks = read_folded(exported(tmp_path, "t.gpudb"))
    assert kernel_totals(stacks) == {"a<b:c>\\x0a x 12": 184_720}
    assert stacks["a<b:c>\\x0a x 12", "odd: name\\x0a.cu:14", "lg_throttle"] == 60_000


@pytest.mark.long
@given(st.lists(st.text(), min_size=1, max_size=4))
@example([";", "\n", "\r\n", "\u2028", "7", " 7", "x\x85 "])
def test_any_names_are_as_many_frames(parts):
    (frames,) = read_folded(f"{';'.join(map(frame, [*parts, 'wait']))} 12\n")
    assert len(frames) == len(parts) + 1 and all(name == name.strip() != "" for name in frames)


def test_the_extension_says_the_format(tmp_path, monkeypatch, only_folded):
    monkeypatch.setitem(FORMATS, "odd", FORMATS["folded"]._replace(extension=".odd.folded"))
    assert format_of(Path("a.folded")) == "folded" and format_of(Path("a.odd.folded")) == "odd"
    make_database(tmp_path / "t.gpudb")
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", "stacks.txt") == (
        2,
        "",
        "gpuprof: -o stacks.txt: the name ends in no format's extension; give --format, or one of .folded (folded), "
        ".odd.folded (odd)\n",
    )
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", "stacks.txt", "--format", "folded") == (0, "", "")
    assert len((tmp_path / "stacks.txt").read_text().splitlines()) == 20


def test_output_to_a_pipe(tmp_path):
    """stdout by either name, whether a pipe or a file, and a pipe of the shell's."""
    write_saxpy(tmp_path / "saxpy.gprec")
    command = ["export", "saxpy.gprec", "--format", "folded", "-o"]
    assert process(tmp_path, *command, "-") == (0, SAXPY, "")
    assert process(tmp_path, *command, "/dev/stdout") == (0, SAXPY, "")
    for name in ("-", "/dev/stdout"):
        with open(tmp_path / "redirected", "w") as file:
            subprocess.run([*PROGRAM, *command, name], cwd=tmp_path, stdout=file, check=True)
        assert (tmp_path / "redirected").read_text() == SAXPY
    (tmp_path / "redirected").unlink()
    piped = f"{shlex.join([*PROGRAM, *command])} >(cat > piped; echo done >> piped); wait $!"
    subprocess.run(["bash", "-c", piped], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "piped").read_text() == f"{SAXPY}done\n"
    assert gpuprof(tmp_path, *command, "/dev/null") == (0, "", "") and Path("/dev/null").is_char_device()
    assert names(tmp_path) == ["piped", "saxpy.gprec"]


@pytest.mark.parametrize(
    "bend, code, error",
    [
        (
            {"with_ledger": False},
            4,
            "nothing to export: no launch of the file has a ledger of warp-cycles; collect again",
        ),
        ({"launches": 0}, 4, "nothing to export: no launch of the file has a ledger of warp-cycles; collect again"),
        (
            {"complete": False},
            0,
            "t.gpudb is not complete (interrupted by the user): the export is of what was recorded",
        ),
    ],
)
def test_nothing_or_not_all_is_there(tmp_path, bend, code, error):
    make_database(tmp_path / "t.gpudb", **bend)
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", "t.folded") == (code, "", f"gpuprof: {error}\n")
    assert (tmp_path / "t.folded").exists() == (code == 0)


def test_wrong_usage(tmp_path, only_folded):
    make_database(tmp_path / "t.folded")
    for arguments, error in (
        (("none.gpudb", "-o", "a.folded"), "none.gpudb: there is no such file"),
        (("t.folded", "-o", "t.folded"), "t.folded: is read by this command; give another name"),
        (("t.folded", "-o", "-"), "-o -: the name ends in no format's extension; give --format, or one of .folded "
            "(folded)"),
        (("t.folded", "-o", ".", "--format", "folded"), ".: is a folder; give a file name"),
    ):  # fmt: skip
        assert gpuprof(tmp_path, "export", *arguments) == (2, "", f"gpuprof: {error}\n")
    assert names(tmp_path) == ["t.folded"]


# The table.


def unpacked(path: Path) -> bytes:
    """Another zlib packs otherwise."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


# What each format makes of tests/support/recordings.py's saxpy: a file beside this one each.
WHOLE = {path.name: unpacked(path) for path in (Path(__file__).parent / "whole").iterdir()}
# What it has nothing for.
NO_GRAPH = "gpuprof: nothing to draw: the recording has no control-flow graph; collect with --trace graph\n"
NO_TASKS = "gpuprof: nothing to export: the file has no tasks; collect again\n"
NOTHING = {
    "cfg-dot": NO_GRAPH,
    "cfg-svg": NO_GRAPH,
    "dot": NO_TASKS,
    "csv": NO_TASKS,
    "nsys-cuda-gpu-mem-time-sum": f"gpuprof: {NO_OPERATIONS}\n",
    "nsys-cuda-gpu-mem-size-sum": f"gpuprof: {NO_OPERATIONS}\n",
    "nsys-cuda-api-sum": f"gpuprof: {NO_CALLS}\n",
    "nsys-cuda-kern-exec-trace": f"gpuprof: {NO_OPERATIONS}\n",
}


def test_every_format_whole(tmp_path):
    write_saxpy(tmp_path / "saxpy.gprec")
    made = {}
    for name, entry in FORMATS.items():
        output = f"saxpy{entry.extension}"
        against = ("--against", "saxpy.gprec") if entry.needs_other else ()
        if name in NOTHING:
            assert gpuprof(tmp_path, "export", "saxpy.gprec", "-o", output) == (4, "", NOTHING[name])
            assert output not in names(tmp_path)
            continue
        assert gpuprof(tmp_path, "export", "saxpy.gprec", "-o", output, *against) == (0, "", "")
        made[output] = unpacked(tmp_path / output)
        assert gpuprof(tmp_path, "export", "saxpy.gprec", "-o", output, "--format", name, *against) == (0, "", "")
        assert unpacked(tmp_path / output) == made[output]
    assert made == WHOLE


def test_every_file_with_a_writer_is_in_the_table():
    writers = {
        f"{path.parent.name}.{path.stem}"
        for path in (ROOT / "gpuprof" / "export").glob("*/[a-z]*.py")
        if hasattr(import_module(f"gpuprof.export.{path.parent.name}.{path.stem}"), "write")
    }
    assert writers == {entry.file for entry in FORMATS.values()}
    extensions = [entry.extension for entry in FORMATS.values()]
    assert len(set(extensions)) == len(extensions) and all(extension[0] == "." for extension in extensions)


@pytest.mark.parametrize("name", FORMATS)
def test_help_and_docs_have_every_format(tmp_path, name):
    entry = FORMATS[name]
    _, out, _ = gpuprof(tmp_path, "export", "--help")
    assert f"{name} ({entry.extension}) {entry.text}" in " ".join(out.partition("\nFormats:\n")[2].split())
    row = f"| `{name}` | `{entry.extension}` | {entry.text} |"
    assert row in (ROOT / "docs" / "export.md").read_text().splitlines(), f"docs/export.md lacks {row}"
