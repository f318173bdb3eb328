"""The whole chain on one kernel, every command and every page, and that their numbers are the same numbers.

The kernel's counts are worked out by hand: 3 blocks of 64 threads are 6 warps; each copies 64 x 4 bytes per block.
"""

import csv
import fcntl
import io
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import termios
from contextlib import closing

import pytest
from elftools.elf.elffile import ELFFile

from gpuprof.isa.stalls import COLUMNS, NAMES
from tests.paths import ROOT, SAMPLES
from tests.support.command import PROGRAM, gpuprof, masked, process, write_files
from tests.support.matrices import long_from

SOURCE = """\
// LAUNCH: copy<4><<<3, 64>>>(to: f32[192], from: f32[192]=random, 192)
// LAUNCH: walk<<<1, 32>>>(from, i32[1], 4)
template <int TIMES>
__global__ void copy(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] * TIMES;
}
__device__ float at(const float *x, int i)
{
    return x[i];
}
__global__ void walk(const float *x, int *count, int steps)
{
    int i = threadIdx.x;
    for (int step = 0; step < steps; step++)
        i = (i + (int)(at(x, i) * 7)) % 192;
    if (i >= 0) atomicAdd(count, 1);
}
"""
N_LAUNCHES, N_WARPS = 2, 6
LOADED_SECTORS = STORED_SECTORS = 192 * 4 // 32


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where copy.cu was compiled, collected at the shortest period and correlated."""
    folder = write_files(tmp_path_factory.mktemp("chain"), {"copy.cu": SOURCE})
    for arguments in (
        ("compile", "copy.cu", "--kernel", "copy<4>"),
        ("collect", "copy.cu", "--period", "32"),
        ("correlate", "copy.gprec"),
    ):
        code, _, error = gpuprof(folder, *arguments)
        assert (code, error) == (0, ""), arguments
    return folder


@pytest.fixture(scope="module")
def database(folder):
    with closing(sqlite3.connect(folder / "copy.gpudb")) as db:
        yield db


def told(folder, *arguments: str) -> str:
    """stdout of a command that goes well."""
    code, out, error = gpuprof(folder, *arguments)
    assert (code, error) == (0, ""), arguments
    return out


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def tables(text: str) -> list[list[dict[str, str]]]:
    """The listings of a CSV page: "Kernel Name,..." opens each."""
    parts = re.split(r"^Kernel Name,.*\n", text, flags=re.MULTILINE)
    return [rows(part) for part in parts if part.strip()]


# What the program is.


def test_the_gpubin_is_an_elf_with_both_kernels(folder):
    with open(folder / "copy.gpubin", "rb") as file:
        elf = ELFFile(file)
        assert elf["e_machine"] == "EM_CUDA"
        sections = {section.name for section in elf.iter_sections()}
        units = [unit.get_top_DIE().tag for unit in elf.get_dwarf_info().iter_CUs()]
    assert {".text._Z4copyILi4EEvPfPKfi", ".text._Z4walkPKfPii", ".debug_line", ".debug_info"} <= sections
    assert units == ["DW_TAG_compile_unit"]


def test_disasm(folder):
    """Every instruction of the kernels, each source line above those it became."""
    plain, with_source, with_ptx = (
        told(folder, "disasm", "copy.gpubin", *flags) for flags in ((), ("--source",), ("--ptx",))
    )
    instructions = [line for line in plain.splitlines() if re.match(r"\s*0x|\s*[0-9a-f]{4,}", line)]
    for text, extra in ((with_source, "to[i] = from[i] * TIMES;"), (with_ptx, "ld.global")):
        assert extra in text and extra not in plain
        assert [line for line in text.splitlines() if line in instructions] == instructions
    assert len(instructions) > 20
    assert "LDG.32" in plain and "STG.32" in plain
    only = told(folder, "disasm", "copy.gpubin", "--kernel", "walk")
    assert "walk" in only and "copy<4>" not in only


# What happened, in every command's words.


def test_records_are_the_samples_of_the_database(folder, database):
    (samples,) = database.execute("SELECT SUM(samples) FROM samples").fetchone()
    lines = told(folder, "records", "copy.gprec").splitlines()
    assert len(lines) == samples > 0
    assert len(rows(told(folder, "records", "copy.gprec", "--format", "csv"))) == samples
    parsed = [json.loads(line) for line in told(folder, "records", "copy.gprec", "--format", "json").splitlines()]
    assert len(parsed) == samples
    of_launch_1 = sum(record["launch"] == 1 for record in parsed)
    assert len(told(folder, "records", "copy.gprec", "--launch", "1").splitlines()) == of_launch_1 > 0
    assert told(folder, "records", "copy.gprec", "--limit", "3").splitlines() == lines[:3]


def test_counts_worked_out_by_hand(database):
    """copy: every instruction by all 6 warps, 32 lanes each; 24 sectors loaded, 24 stored, all of them needed."""
    (pcs,) = database.execute(
        "SELECT COUNT(*) FROM instructions i JOIN functions f USING (function) WHERE f.display = 'copy<4>'"
    ).fetchone()
    executed = database.execute("SELECT inst_executed, thread_inst_executed FROM counters WHERE launch = 0").fetchall()
    assert executed == [(N_WARPS, 32 * N_WARPS)] * pcs
    sectors = "SELECT SUM(l2_sectors_global), SUM(l2_sectors_global_ideal) FROM counters WHERE launch = 0"
    assert database.execute(sectors).fetchone() == (LOADED_SECTORS + STORED_SECTORS, LOADED_SECTORS + STORED_SECTORS)


def test_the_ledger_is_the_resident_warp_cycles(database):
    query = "SELECT SUM(cycles) FROM ledger WHERE launch = ?"
    metric = "SELECT value FROM launch_metrics WHERE launch = ? AND metric = 'resident_warp_cycles'"
    for launch in range(N_LAUNCHES):
        assert database.execute(query, (launch,)).fetchone() == database.execute(metric, (launch,)).fetchone()


def test_causes_have_the_cycles_of_the_ledger_and_the_stalls(database):
    query = "SELECT launch, pc, reason, SUM(cycles), SUM(stalls) FROM causes GROUP BY launch, pc, reason"
    exact = (
        "SELECT l.launch, l.pc, l.reason, l.cycles, s.stalls FROM ledger l JOIN stalls s USING (launch, pc, "
        "reason) ORDER BY 1, 2, 3"
    )
    assert database.execute(query).fetchall() == database.execute(exact).fetchall()
    kinds = {name for (name,) in database.execute("SELECT DISTINCT k.name FROM causes JOIN cause_kinds k USING (kind)")}
    assert {"result", "dram", "branch", "store"} <= kinds


def test_stalls_are_the_ledger_in_pieces(database):
    """For every (launch, pc, reason) but issues: as many stalls as their lengths count, which can have just the
    ledger's cycles.
    """
    lengths = (
        "SELECT launch, pc, reason, SUM(stalls), SUM(stalls * least_cycles), SUM(stalls * (2 * least_cycles - 1)), "
        "MAX(least_cycles) "
        "FROM stall_lengths GROUP BY launch, pc, reason"
    )
    stalls, ledger, found = (
        {row[:3]: row[3:] for row in database.execute(query)}
        for query in (
            "SELECT launch, pc, reason, stalls, longest_cycles FROM stalls",
            "SELECT launch, pc, reason, cycles FROM ledger WHERE reason != 0",
            lengths,
        )
    )
    assert stalls.keys() == ledger.keys() == found.keys() and len(stalls) > 20
    for key, (n, least, most, last) in found.items():
        assert stalls[key][0] == n and least <= ledger[key][0] <= most and last <= stalls[key][1] < 2 * last, key


@pytest.mark.parametrize("page", ["source", "ptx", "isa"])
def test_every_listing_adds_up_to_the_database(folder, database, page):
    """CSV and JSON of each page: all samples, all warp-cycles, all executed instructions of each kernel, whatever they
    are listed by.
    """
    listed = tables(told(folder, "report", "copy.gpudb", "--page", page, "--format", "csv"))
    ordered = database.execute("SELECT launch FROM launches ORDER BY cycles DESC").fetchall()
    assert len(listed) == N_LAUNCHES
    for (launch,), table in zip(ordered, listed, strict=True):
        for column, query in (
            ("# Samples", "SELECT SUM(samples) FROM samples WHERE launch = ?"),
            ("Warp Cycles (Exact)", "SELECT SUM(cycles) FROM ledger WHERE launch = ?"),
            ("Instructions Executed", "SELECT SUM(inst_executed) FROM counters WHERE launch = ?"),
        ):
            total = sum(int(row[column] or 0) for row in table if row["Line"] != "" or page != "source")
            assert (page, column, total) == (page, column, database.execute(query, (launch,)).fetchone()[0])
        for column, name in zip(COLUMNS, NAMES, strict=True):
            query = (
                "SELECT COALESCE(SUM(samples), 0) FROM samples JOIN stall_reasons USING (reason) WHERE launch = ? "
                "AND name = ?"
            )
            assert (
                sum(int(row[column] or 0) for row in table) == database.execute(query, (launch, name)).fetchone()[0]
            ), name


def test_json_says_what_csv_says(folder):
    page = json.loads(told(folder, "report", "copy.gpudb", "--page", "source", "--format", "json"))
    listed = tables(told(folder, "report", "copy.gpudb", "--page", "source", "--format", "csv"))
    for kernel, table in zip(page["kernels"], listed, strict=True):
        assert kernel["cost"]["samples"] == sum(int(row["# Samples"]) for row in table)
        assert kernel["cost"]["warp_cycles"] == sum(int(row["Warp Cycles (Exact)"]) for row in table)


def test_the_source_page(folder):
    """The lines of both kernels as they are in the source, the loop hot, what was inlined at its own place."""
    out = told(folder, "report", "copy.gpudb", "--page", "source")
    for text in ("if (i < n) to[i] = from[i] * TIMES;", "i = (i + (int)(at(x, i) * 7)) % 192;", "return x[i];"):
        assert out.count(text) >= 1
    hot = [line for line in out.splitlines() if line.startswith(">>")]
    assert any("to[i] = from[i] * TIMES;" in line for line in hot)
    assert masked(out).startswith("# gpuprof    0.1.0, model ")


def test_report_takes_records_too(folder):
    for page in ("summary", "source", "ptx", "isa", "launches"):
        assert told(folder, "report", "copy.gprec", "--page", page) == told(
            folder, "report", "copy.gpudb", "--page", page
        )


def test_report_filters(folder):
    walk = told(folder, "report", "copy.gpudb", "--page", "source", "--kernel", "^walk")
    assert "# walk" in walk and "copy<4>" not in walk
    assert told(folder, "report", "copy.gpudb", "--page", "source", "--launch", "1") == walk
    few = told(folder, "report", "copy.gpudb", "--kernel", "copy", "--source-lines", "6-7")
    assert re.findall(r"^(?:>>|-) +(\d+) ", few, re.MULTILINE) == ["6", "7"]
    assert "LDG.32" in told(folder, "report", "copy.gpudb", "--kernel", "copy", "--isa")


def test_the_launches_page(folder, database):
    (header, *launches) = csv.reader(
        io.StringIO(told(folder, "report", "copy.gpudb", "--page", "launches", "--format", "csv"))
    )
    assert len(header) == len(set(header))
    cycles = [cycles for (cycles,) in database.execute("SELECT cycles FROM launches ORDER BY launch")]
    assert [(row[header.index("kernel")], int(row[header.index("cycles")])) for row in launches] == [
        ("copy<4>", cycles[0]),
        ("walk", cycles[1]),
    ]


# On a terminal.


def on_a_terminal(folder, columns: int, *arguments: str, **environment: str) -> str:
    """What is written to a terminal of that width, escapes and all."""
    main, child = os.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    running = subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=folder,
        stdin=child,
        stdout=child,
        stderr=child,
        env=inherited | {"TERM": "xterm-256color"} | environment,
    )
    os.close(child)
    seen = b""
    try:
        while piece := os.read(main, 65536):
            seen += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(main)
    assert running.wait(60) == 0
    return seen.decode().replace("\r\n", "\n")


ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@pytest.mark.parametrize("columns", long_from(1, [40, 80, 200]))
@pytest.mark.parametrize("page", ["summary", "source", "isa", "launches"])
def test_never_wider_than_the_terminal(folder, columns, page):
    out = on_a_terminal(folder, columns, "report", "copy.gpudb", "--page", page)
    assert ESCAPES.search(out)
    assert max(map(len, ESCAPES.sub("", out).splitlines())) <= columns


def test_no_color(folder):
    assert "\x1b" not in on_a_terminal(folder, 80, "report", "copy.gpudb", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(folder, 80, "disasm", "copy.gpubin", NO_COLOR="1")
    assert "\x1b" not in told(folder, "report", "copy.gpudb")


# In CI.


def test_check(folder, tmp_path):
    """A baseline, the same again, a slower kernel by name and line, another chip, a kernel that is gone."""
    shutil.copy(folder / "copy.cu", tmp_path)
    shutil.copy(folder / "copy.gprec", tmp_path)
    assert (
        told(tmp_path, "check", "copy.gprec", "--baseline", "base.txt", "--update")
        == "base.txt: baseline of 2 launches written\n"
    )
    assert told(tmp_path, "check", "copy.gprec", "--baseline", "base.txt").endswith(
        "2 launches compared (cycles=1%|200): all within limits\n"
    )
    base = (tmp_path / "base.txt").read_text()

    slower = SOURCE.replace(
        "to[i] = from[i] * TIMES;", "for (int k = 0; k < 40; k++) to[(i + 7 * k) % n] = from[(i * 32 + k) % n] * TIMES;"
    )
    write_files(tmp_path, {"copy.cu": slower})
    told(tmp_path, "collect", "copy.cu", "--period", "32")
    code, out, error = gpuprof(tmp_path, "check", "copy.gprec", "--baseline", "base.txt")
    assert code == 3
    assert re.match(
        r"regressed  copy<4><<<3, 64>>>: cycles \d+ -> \d+ \(\+\d+, \+[\d.]+ %\), limit 1%\|200, its code changed\n",
        out,
    )
    assert re.search(r"^ +copy\.cu:7  .*warp-cycles \(\+\d+\)", out, re.MULTILINE)
    assert error.startswith("gpuprof: 1 of 2 launches regressed: copy<4><<<3, 64>>>: ") and "most at copy.cu:7" in error
    assert (
        gpuprof(tmp_path, "check", "copy.gprec", "--baseline", "base.txt", "--fail-on", "cycles=100000%|100000000")[0]
        == 0
    )

    told(tmp_path, "collect", "copy.cu", "--chip", "v100", "--period", "32")
    code, _, error = gpuprof(tmp_path, "check", "copy.gprec", "--baseline", "base.txt")
    assert code == 4 and "v100" in error and "a100" in error

    write_files(tmp_path, {"copy.cu": SOURCE})
    told(
        tmp_path,
        "collect",
        "copy.cu",
        "--period",
        "32",
        "--launch",
        "copy<4><<<3, 64>>>(f32[192], f32[192]=random, 192)",
    )
    code, _, error = gpuprof(tmp_path, "check", "copy.gprec", "--baseline", "base.txt")
    assert code == 4 and "not in this profile: walk<<<1, 32>>>" in error
    assert (tmp_path / "base.txt").read_text() == base


# The program.


def test_list_and_explain(tmp_path):
    for kind, word in (
        ("chips", "a100"),
        ("stalls", "long_scoreboard"),
        ("metrics", "cycles"),
        ("samples", "saxpy.cu"),
    ):
        assert word in told(tmp_path, "list", kind)
        assert json.loads(told(tmp_path, "list", kind, "--format", "json"))["version"] == 1
    for name, column in zip(NAMES, COLUMNS, strict=True):
        assert told(tmp_path, "explain", name) == told(tmp_path, "explain", column)


def test_every_command_has_help(tmp_path):
    commands = re.findall(r"^  ([a-z]+)  ", told(tmp_path, "--help").partition("Commands:")[2], re.MULTILINE)
    assert commands == [
        "init",
        "compile",
        "disasm",
        "collect",
        "run",
        "debug",
        "replay",
        "merge",
        "records",
        "correlate",
        "import",
        "report",
        "view",
        "relate",
        "export",
        "quality",
        "check",
        "bisect",
        "diff",
        "advise",
        "whatif",
        "sweep",
        "vary",
        "predict",
        "mcp",
        "fidelity",
        "list",
        "explain",
    ]
    for command in commands:
        assert told(tmp_path, command, "--help").startswith(f"Usage: gpuprof {command} ")
        short = subprocess.run(
            [sys.executable, "-m", "gpuprof", command, "-h"], capture_output=True, text=True, check=True
        )
        # in a process of its own: click keeps the first help option it makes
        assert short.stdout.startswith(f"Usage: gpuprof {command} ")


def test_the_installed_program(tmp_path):
    script = shutil.which("gpuprof", path=os.path.dirname(sys.executable))
    if script is None:
        pytest.skip("gpuprof is not installed beside this Python")
    done = subprocess.run([script, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "gpuprof, version 0.1.0\n", "")
    assert process(tmp_path, "--version") == (0, "gpuprof, version 0.1.0\n", "")


HEAVY = ("numba", "llvmlite", "numpy", "elftools", "rich", "sqlite3", "click")


@pytest.mark.parametrize(
    "statement, heavy",
    [
        ("import gpuprof", ()),
        ("import gpuprof.cli.main", ("click",)),
        ("import gpuprof.report.render", ("numpy", "rich", "sqlite3")),
        ("import gpuprof.check.compare", ("numpy", "sqlite3")),
    ],
)
def test_imports_stay_light(statement, heavy):
    """Nothing that is slow to load before it is needed; reports and checks never load the compiler or Numba."""
    code = f"import sys\n{statement}\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert set(done.stdout.split()) <= set(heavy)


def test_a_run_whose_code_is_compiled_imports_no_numba(tmp_path):
    """The first command may compile; the second finds all machine code that it needs."""
    command = ["-m", "gpuprof", "collect", SAMPLES / "saxpy.cu", "-o", "saxpy.gprec", "--force"]
    for options in ([], ["-X", "importtime"]):
        done = subprocess.run([sys.executable, *options, *command], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "gpuprof.timing.simulate" in imported
    assert sorted(name for name in imported if name.partition(".")[0] == "numba") == []
