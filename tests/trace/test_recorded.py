"""What generators found, in recordings and databases, through the program: collect, replay, merge, passes, packages."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gpuprof.cli.list import trace_lines
from gpuprof.correlate.trace_tables import Traced, TraceTable
from gpuprof.records.encoding import encode_json
from gpuprof.records.reader import TraceKey, read_recording
from gpuprof.records.schema import BY_TYPE
from gpuprof.records.writer import PIECE_NBYTES, row_pieces
from gpuprof.report.pages.traces import columns_of
from gpuprof.report.queries import read_report
from gpuprof.tables.launch import LEDGER
from gpuprof.tables.table import Column
from tests.paths import ROOT
from tests.support.command import gpuprof
from tests.support.report_database import make_database

SOURCE = """\
// LAUNCH: add<<<2, 48>>>(x: i32[96], 1)
// LAUNCH: add<<<1, 32>>>(x, 2)
__global__ void add(int *x, int step) { x[blockIdx.x * blockDim.x + threadIdx.x] += step; }
"""
MY = """\
from gpuprof.trace import Column, Option, Table, TraceGenerator


class Stores(TraceGenerator):
    '''Counts the bytes that each block stores.'''

    kinds = ("store",)
    least = Option(1, "bytes that a block must store to be a finding")
    tables = (
        Table("bytes", "stored by block", (
            Column("block", "integer", "", "linear index"),
            Column("nbytes", "integer", "bytes", "stored"),
            Column("share", "real", "", "of all"),
            Column("pc", "integer", "", "of the store"),
        )),
    )

    def initialize(self, kernel):
        self.nbytes = {}

    def event(self, event):
        self.pc = event.pc
        for warp in event.warps():
            self.nbytes[warp.block] = self.nbytes.get(warp.block, 0) + event.nbytes * len(warp.addresses)

    def finish(self):
        total = sum(self.nbytes.values())
        self.add_rows("bytes", [(block, n, n / total, self.pc) for block, n in self.nbytes.items()])
        for block, n in self.nbytes.items():
            if n >= self.least:
                self.find("stores", "note", f"block {block} stores {n} bytes", pc=self.pc, block=block, count=n)


class Breaks(TraceGenerator):
    '''Raises in the second launch.'''

    def initialize(self, kernel):
        if kernel.launch == 1:
            raise ValueError("I cannot")
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "k.cu").write_text(SOURCE)
    (tmp_path / "my.py").write_text(MY)
    return tmp_path


def rows(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def collect(folder: Path, *flags: str) -> None:
    assert gpuprof(folder, "collect", "k.cu", *flags)[0] == 0


def test_from_collect_to_the_database(folder):
    collect(folder, "--trace", "my.py:Stores:least=192,launch=0", "--trace", "mix:skip=1")
    recording = read_recording(folder / "k.gprec")
    assert list(recording.traces) == [TraceKey(0, "stores", "bytes"), TraceKey(1, "mix", "opcodes")]
    assert "--trace my.py:Stores:least=192,launch=0 --trace mix:skip=1" in recording.meta["command"]
    assert gpuprof(folder, "correlate", "k.gprec")[0] == 0
    path = folder / "k.gpudb"
    assert rows(path, "SELECT * FROM trace_tables") == [
        (0, "trace_mix_opcodes", "mix", "opcodes", "instructions of the module by opcode"),
        (1, "trace_stores_bytes", "stores", "bytes", "stored by block"),
    ]
    assert rows(path, "SELECT name, type, unit, text FROM trace_columns WHERE trace = 1 ORDER BY place") == [
        ("block", "integer", "", "linear index"),
        ("nbytes", "integer", "bytes", "stored"),
        ("share", "real", "", "of all"),
        ("pc", "integer", "", "of the store"),
    ]
    ((pc,),) = rows(path, "SELECT pc FROM instructions WHERE operation = 'store'")
    assert rows(path, "SELECT * FROM trace_stores_bytes") == [(0, 0, 192, 0.5, pc), (0, 1, 192, 0.5, pc)]
    assert rows(path, "SELECT launch, warps, threads FROM trace_mix_opcodes WHERE opcode = 'STG.32'") == [(1, 1, 32)]
    assert rows(path, "SELECT * FROM findings") == [
        (n, 0, "stores", "stores", "note", f"block {n} stores 192 bytes", pc, None, n, None, None, None, "", 192, None)
        for n in (0, 1)
    ]


def test_replay_equals_collect(folder):
    flags = ("--trace", "my.py:Stores", "--trace", "mix", "--trace", "addresses")
    collect(folder, "--save-stream", *flags)
    assert gpuprof(folder, "replay", "k.gprec", *flags, "-o", "again.gprec")[0] == 0
    first, again = (read_recording(folder / name) for name in ("k.gprec", "again.gprec"))
    assert first.traces == again.traces and first.findings == again.findings
    assert len(first.traces) == 6 and len(first.findings) == 3


def test_samples_and_cycles_are_those_without(folder):
    collect(folder)
    collect(folder, "--trace", "mix", "--trace", "addresses", "-o", "traced.gprec")
    plain, traced = (read_recording(folder / name) for name in ("k.gprec", "traced.gprec"))
    for number, launch in plain.launches.items():
        assert launch.end == traced.launches[number].end
        assert launch.samples.tobytes() == traced.launches[number].samples.tobytes()
        assert launch.rows[LEDGER].tobytes() == traced.launches[number].rows[LEDGER].tobytes()


def test_two_passes_are_watched_once(folder):
    collect(folder, "--trace", "my.py:Stores", "--passes", "2")
    recording = read_recording(folder / "k.gprec")
    assert [(key.launch, len(trace.rows)) for key, trace in recording.traces.items()] == [(0, 2), (1, 1)]
    assert len(recording.findings) == 3


@pytest.mark.long
def test_merged_recordings_move_launches_and_code(folder):
    (folder / "other.cu").write_text(SOURCE.replace("add", "sum"))
    for name in ("k", "other"):
        assert gpuprof(folder, "collect", f"{name}.cu", "--trace", "my.py:Stores")[0] == 0
    assert gpuprof(folder, "merge", "k.gprec", "other.gprec", "-o", "both.gprec")[0] == 0
    recording = read_recording(folder / "both.gprec")
    assert [key.launch for key in recording.traces] == [0, 1, 2, 3]
    assert gpuprof(folder, "correlate", "both.gprec")[0] == 0
    query = "SELECT launch, block, i.operation FROM {} LEFT JOIN instructions i USING (pc) ORDER BY launch, block"
    expected = [(0, 0, "store"), (0, 1, "store"), (1, 0, "store"), (2, 0, "store"), (2, 1, "store"), (3, 0, "store")]
    for table in ("trace_stores_bytes", "findings"):
        assert rows(folder / "both.gpudb", query.format(table)) == expected


def test_an_exception_keeps_the_launches_before(folder):
    code, _, error = gpuprof(folder, "collect", "k.cu", "--trace", "my.py:Breaks", "--trace", "mix")
    assert code == 1
    assert "ValueError: I cannot" in error and "in initialize" in error
    assert "gpuprof: trace generator breaks: ValueError: I cannot; the part before can be read" in error
    recording = read_recording(folder / "k.gprec")
    assert recording.launches[0].end and not recording.complete
    assert list(recording.traces) == [TraceKey(0, "mix", "opcodes")]


def test_a_fault_keeps_what_was_found_of_its_launch(folder):
    (folder / "k.cu").write_text(
        "// LAUNCH: add<<<1, 32>>>(x: i32[32], 0)\n// LAUNCH: add<<<1, 32>>>(x, 268435456)\n"
        "__global__ void add(int *x, int far) { x[threadIdx.x] = 1; x[threadIdx.x + far] = 2; }\n"
    )
    code, _, error = gpuprof(folder, "collect", "k.cu", "--trace", "my.py:Stores")
    assert code == 1 and "out of bounds write" in error
    recording = read_recording(folder / "k.gprec")
    assert [(key.launch, trace.rows[0][1]) for key, trace in recording.traces.items()] == [(0, 256), (1, 256)]
    assert recording.marks and not recording.launches[1].end


def test_two_generators_of_one_name(folder):
    collect(folder, "--trace", "mix", "--trace", "mix:launch=0")
    names = [(key.generator, key.launch) for key in read_recording(folder / "k.gprec").traces]
    assert names == [("mix", 0), ("mix_2", 0), ("mix", 1)]


def test_one_name_is_one_generator_whatever_it_watches(folder):
    """The second `mix` is the user's, and has another table: a launch that it watches alone keeps it apart."""
    (folder / "other.py").write_text(
        "from gpuprof.trace import Column, Table, TraceGenerator\n"
        "class Mix(TraceGenerator):\n"
        "    tables = (Table('opcodes', 'mine', (Column('x', 'integer', '', ''),)),)\n"
        "    def finish(self):\n"
        "        self.add_row('opcodes', 3)\n"
    )
    collect(folder, "--trace", "mix:launch=0", "--trace", "other.py:Mix:launch=1")
    assert gpuprof(folder, "correlate", "k.gprec", "-o", "k.db")[0] == 0
    assert rows(folder / "k.db", "SELECT launch, x FROM trace_mix_2_opcodes") == [(1, 3)]
    assert rows(folder / "k.db", "SELECT DISTINCT launch FROM trace_mix_opcodes") == [(0,)]


def test_a_filter_that_no_launch_meets(folder):
    code, _, error = gpuprof(folder, "collect", "k.cu", "--trace", "mix:kernel=nothing", "--trace", "mix:launch=1")
    assert code == 0
    assert error.splitlines()[-1] == "gpuprof: trace generator mix watched nothing: no launch met kernel=nothing"


def test_list_traces(folder):
    code, out, _ = gpuprof(folder, "list", "traces", "--format", "json")
    found = {entry["name"]: entry for entry in json.loads(out)["traces"]}
    assert found["addresses"]["options"][1] == {
        "name": "most",
        "default": 100000,
        "meaning": "rows at most, in a launch",
    }
    assert code == 0 and found["mix"]["options"] == []
    lines = gpuprof(folder, "list", "traces")[1].splitlines()
    assert "                     most=100000  rows at most, in a launch" in lines


@pytest.mark.parametrize(
    "width, expected",
    [
        (None, ["name text", "one  Finds a thing or two", "       ways=4  lines of a set; 0: one set has all"]),
        (
            26,
            [
                "name text",
                "one  Finds a thing or two",
                "       ways=4  lines of a",
                "           set; 0: one set",
                "           has all",
            ],
        ),
    ],
)
def test_options_have_lines_of_their_own(width, expected):
    option = {"name": "ways", "default": 4, "meaning": "lines of a set; 0: one set has all"}
    assert trace_lines([("one", "Finds a thing or two", [option])], width) == expected


@pytest.mark.parametrize(
    "flag, message",
    [
        ("adresses", "no trace generator 'adresses'; did you mean addresses"),
        ("mix:size=3", "mix has no option 'size'; its options are: none"),
        ("mix:kernel=(", "it is not a regular expression"),
    ],
)
def test_wrong_flags(folder, flag, message):
    code, _, error = gpuprof(folder, "collect", "k.cu", "--trace", flag)
    assert code == 2 and message in error
    assert not (folder / "k.gprec").exists()


TABLE = {"launch": 0, "generator": "g", "table": "t", "text": "", "columns": [], "rows": []}
COLUMN = {"name": "x", "type": "integer", "unit": "", "text": ""}


@pytest.mark.parametrize(
    "fields",
    [
        {"columns": [{"name": "x"}]},
        {"columns": [COLUMN | {"type": 3}]},
        {"rows": [1]},
        {"rows": [[None]]},
        {"rows": [[True]]},
    ],
)
def test_a_table_that_is_none(fields):
    with pytest.raises(ValueError, match="which is not a list of"):
        encode_json(BY_TYPE[b"TRAC"], TABLE | fields)


def test_long_tables_come_in_pieces():
    many = [[number, "x" * 1000] for number in range(1000)]
    pieces = list(row_pieces(many))
    assert [row for piece in pieces for row in piece] == many
    assert all(sum(len(row[1]) + 24 for row in piece) < PIECE_NBYTES + 1100 for piece in pieces) and len(pieces) == 4
    assert list(row_pieces([])) == [[]]


@pytest.mark.long
def test_a_generator_of_an_installed_package(folder):
    """Installed as an installer does it: the module, and its entry points in a .dist-info folder."""
    site = folder / "site"
    info = site / "my_traces-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "my_traces.py").write_text(MY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-traces\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gpuprof.trace_generators]\nstored = my_traces:Stores\n")
    environment = os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "gpuprof", *arguments], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "Counts the bytes that each block stores" in run("list", "traces")
    run("collect", "k.cu", "--trace", "stored:least=500")
    assert TraceKey(1, "stores", "bytes") in read_recording(folder / "k.gprec").traces


REQUIREMENTS = [
    ("findings<=3", 0, "required   findings<=3: 3\n"),
    ("findings<=2", 3, "broken     findings<=2: 3\n"),
    ("findings.stores <= 2", 3, "broken     findings.stores <= 2: 3\n"),
    ("findings.other<=0", 0, "required   findings.other<=0: 0\n"),
    ("trace.stores_bytes.nbytes<=192", 0, "required   trace.stores_bytes.nbytes<=192: 192\n"),
    ("trace.stores_bytes.share<=0.5", 3, "broken     trace.stores_bytes.share<=0.5: 1\n"),
]


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("required")
    (folder / "k.cu").write_text(SOURCE)
    (folder / "my.py").write_text(MY)
    collect(folder, "--trace", "my.py:Stores")
    collect(folder, "-o", "plain.gprec")
    return folder


@pytest.mark.parametrize("text, code, out", REQUIREMENTS)
def test_requirements(traced, text, code, out):
    assert gpuprof(traced, "check", "k.gprec", "--require", text)[:2] == (code, out)


def test_requirements_beside_a_baseline(traced):
    assert gpuprof(traced, "check", "k.gprec", "--baseline", "b.txt", "--update", "--force")[0] == 0
    code, out, error = gpuprof(traced, "check", "k.gprec", "--baseline", "b.txt", "--require", "findings<=0")
    assert code == 3 and out.endswith("all within limits\nbroken     findings<=0: 3\n")
    assert error == "gpuprof: 1 of 1 required broken: findings<=0: 3\n"
    code, out, _ = gpuprof(
        traced, "check", "k.gprec", "--baseline", "b.txt", "--require", "findings<=0", "--format", "json"
    )
    assert json.loads(out)["requirements"] == [{"require": "findings<=0", "value": 3, "met": False}]


def test_annotations_of_findings(traced):
    """A requirement that is broken points to the first finding that it counts."""
    code, out, _ = gpuprof(traced, "check", "k.gprec", "--require", "findings<=2", "--format", "github")
    assert code == 3
    assert (
        out
        == """\
::error file=k.cu,line=3,title=k%3A requirement broken::findings<=2: 3
::warning file=k.cu,line=3,title=k%3A add<<<2%2C 48>>> finding::stores: block 0 stores 192 bytes (192 times)
::warning file=k.cu,line=3,title=k%3A add<<<2%2C 48>>> finding::stores: block 1 stores 192 bytes (192 times)
::warning file=k.cu,line=3,title=k%3A add<<<1%2C 32>>> finding::stores: block 0 stores 128 bytes (128 times)
"""
    )


@pytest.mark.parametrize(
    "file, flags, code, message",
    [
        ("k.gprec", ("--require", "finds<=0"), 2, "expected findings<=N, findings.KIND<=N or trace.TABLE.COLUMN<=N"),
        ("k.gprec", ("--require", "trace.store_bytes.nbytes<=1"), 4, "the profile has no table 'store_bytes'; did you"),
        ("k.gprec", ("--require", "trace.stores_bytes.size<=1"), 4, "no such column of numbers; it has block, nbytes"),
        ("plain.gprec", ("--require", "findings<=0"), 4, "no trace generator has watched; collect with --trace"),
        ("k.gprec", (), 2, "give the --baseline to compare with, or nothing but --require"),
    ],
)
def test_requirements_that_cannot_be(traced, file, flags, code, message):
    found, _, error = gpuprof(traced, "check", file, *flags)
    assert found == code and message in error


def test_pages_without_anything(traced):
    out = gpuprof(traced, "report", "plain.gprec", "--page", "traces")[1]
    assert out.splitlines()[7:] == [
        "table  rows",
        "# no tables of trace generators: gpuprof collect --trace NAME makes them",
    ]
    out = gpuprof(traced, "report", "plain.gprec", "--page", "findings")[1]
    assert out.splitlines()[7:] == [
        "severity  where  finding",
        "# no findings",
        "# no checker was enabled: gpuprof collect --trace memcheck --trace racecheck",
    ]


def test_addresses_are_hexadecimal(tmp_path):
    """Of code and of memory; -1 stands for none. A number of anything else is decimal. An address of code has its line
    next to it: these have none.
    """
    names = ("pc", "to_pc", "address", "first_address", "addresses")
    columns = tuple(Column(name, "integer", "", "") for name in names)
    traced = Traced(TraceTable("trace_g_t", "g", "t", "", columns), ((0, 256, -1, 4096, -1, 4096),))
    with sqlite3.connect(make_database(tmp_path / "t.gpudb")) as db:
        report = read_report(db)
    shown = [column.cell(traced.rows[0]).plain for column in columns_of(traced, report, plain=True)]
    assert shown == ["0", "0x100", "-", "-", "-", "0x1000", "-", "4096"]


def test_pages(traced):
    """In a pipe: every fact a field."""
    out = gpuprof(traced, "report", "k.gprec", "--page", "traces")[1]
    assert [line.split() for line in out.splitlines()[7:]][:6] == [
        ["table", "rows", "columns", "holds"],
        ["stores.bytes", "3", "4", "stored", "by", "block"],
        [],
        ["#", "stores.bytes"],
        ["launch", "block", "nbytes", "share", "pc", "line"],
        ["0", "0", "192", "0.5", "0x100090", "k.cu:3"],
    ]
    out = gpuprof(traced, "report", "k.gprec", "--page", "findings", "--launch", "1")[1]
    *_, heads, row, watched = out.splitlines()
    assert watched.startswith("# watched by ") and "stores" in watched
    assert [heads.split(), row.split()] == [
        [
            "severity",
            "kind",
            "count",
            "cycles",
            "where",
            "second",
            "launch",
            "block",
            "warp",
            "thread",
            "memory",
            "finding",
        ],
        ["note", "stores", "128", "-", "k.cu:3", "-", "1", "0", "-", "-", "-", "block", "0", "stores", "128", "bytes"],
    ]
    document = json.loads(gpuprof(traced, "report", "k.gprec", "--page", "traces", "--format", "json")[1])
    ((table,),) = (kernel["traces"] for kernel in document["kernels"])
    assert [row[:4] for row in table["rows"]] == [[0, 0, 192, 0.5], [0, 1, 192, 0.5], [1, 0, 128, 1.0]]
