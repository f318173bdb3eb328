"""gpuprof import of what `ncu --csv` prints: both pages, units with prefixes, and what is refused."""

import sqlite3

import pytest

from gpuprof.importers.ncu_csv import number, short_name
from tests.support.command import gpuprof
from tests.support.report_database import make_database

IDENTITY = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC"'
)
FIRST = '"0","77","app","127.0.0.1","void scale<(int)4>(float *, int)","1","7","(256, 1, 1)","(1024, 1, 1)","0","8.0"'
DETAILS = f"""\
hello from the program
==PROF== Connected to process 77
{IDENTITY},"Section Name","Metric Name","Metric Unit","Metric Value"
{FIRST},"GPU Speed Of Light Throughput","SM Frequency","cycle/usecond","1,250.5"
{FIRST},"GPU Speed Of Light Throughput","Elapsed Cycles","cycle","12,345"
{FIRST},"Launch Statistics","Registers Per Thread","register/thread","24"
{FIRST},"Launch Statistics","Static Shared Memory Per Block","Kbyte/block","1.02"
{FIRST},"Command line profiler metrics","dram__bytes_read.sum","Mbyte","4.19"
"""
RAW = f"""\
{IDENTITY},"device__attribute_display_name","dram__bytes_read.sum","gpu__time_duration.sum","sm__cycles_elapsed.max"
"","","","","","","","","","","","","Mbyte","usecond","cycle"
{FIRST},"Card X","4.19","9.5","12,345"
"""


def imported(folder, text: str) -> sqlite3.Connection:
    (folder / "p.csv").write_text(text)
    code, _, error = gpuprof(folder, "import", "p.csv")
    assert (code, error) == (0, "")
    return sqlite3.connect(folder / "p.gpudb")


def test_the_details_page(tmp_path):
    with imported(tmp_path, DETAILS) as db:
        assert db.execute("SELECT kernel, grid, block, stream, cycles, complete FROM launches").fetchall() == [
            ("scale", "1024,1,1", "256,1,1", 7, 12345, 1)
        ]
        metrics = dict(db.execute("SELECT metric, value FROM launch_metrics"))
        assert metrics["dram_read_nbytes"] == 4_190_000 and metrics["registers"] == 24
        assert metrics["shared_nbytes"] == 1020
        meta = dict(db.execute("SELECT key, value FROM meta"))
        assert meta["chip_json"] == '{"clock_mhz": 1250.5, "name": "unknown card"}'
        assert meta["measured_by"] == "Nsight Compute (CSV)"
        assert db.execute("SELECT arch FROM modules").fetchall() == [("sm_80",)]


def test_the_raw_page(tmp_path):
    with imported(tmp_path, RAW) as db:
        assert db.execute("SELECT kernel, cycles FROM launches").fetchall() == [("scale", 12345)]
        metrics = dict(db.execute("SELECT metric, value FROM launch_metrics"))
        assert (metrics["gpu__time_duration.sum"], metrics["dram__bytes_read.sum"]) == (9500, 4_190_000)
        assert db.execute("SELECT value FROM meta WHERE key = 'chip'").fetchone() == ("Card X",)


def test_metrics_alone_are_shown(tmp_path):
    imported(tmp_path, DETAILS).close()
    code, out, error = gpuprof(tmp_path, "report", "p.gpudb", "--page", "summary")
    assert (code, error) == (0, "")
    assert "# note       it has only metrics: no samples, lines or instructions\n" in out
    assert "# time       9.87 us, 12,345 cycles at 1250.5 MHz\n" in out
    make_database(tmp_path / "t.gpudb", kernel="scale")
    assert gpuprof(tmp_path, "export", "t.gpudb", "--against", "p.gpudb", "-o", "c.comparison.md") == (0, "", "")
    assert "| cycles of a launch | 5,000 | 12,345 | 0.41 |" in (tmp_path / "c.comparison.md").read_text()


def test_what_we_export_comes_back(tmp_path):
    """The raw page of a recording: its cycles and bytes."""
    make_database(tmp_path / "t.gpudb")
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", "t.raw.csv")[0] == 0
    assert gpuprof(tmp_path, "import", "t.raw.csv", "-o", "back.gpudb")[0] == 0
    with sqlite3.connect(tmp_path / "back.gpudb") as db:
        assert db.execute("SELECT launch, kernel, grid, block, cycles FROM launches").fetchall() == [
            (0, "transpose_naive", "4,4,1", "32,8,1", 5000), (1, "transpose_naive", "4,4,1", "32,8,1", 5000),
        ]  # fmt: skip
        metrics = dict(db.execute("SELECT metric, value FROM launch_metrics WHERE launch = 1"))
        assert (metrics["dram_read_nbytes"], metrics["l2_sectors"], metrics["registers"]) == (65_536, 17_408, 24)


@pytest.mark.parametrize(
    "text, unit, value",
    [
        ("1,234.5", "", 1234.5), ("1.5", "Kbyte", 1500), ("2", "usecond", 2000), ("2", "us", 2000),
        ("1.41", "Ghz", 1.41e9),
        ("1.25", "cycle/nsecond", 1.25e9), ("3", "Gbyte/second", 3e9), ("7", "register/thread", 7), ("no", "", "no"),
        ("nan", "", "nan"),
    ],
)  # fmt: skip
def test_numbers_and_their_units(text, unit, value):
    assert number(text, unit) == value


@pytest.mark.parametrize(
    "name, short",
    [
        ("copy(float *)", "copy"), ("void scale<(int)4, (bool)1>(float *)", "scale"), ("plain", "plain"),
        ("void a::b::gemm<float, a::c<2>>(T1)", "gemm"), ("(odd)", "(odd)"),
    ],
)  # fmt: skip
def test_short_names(name, short):
    assert short_name(name) == short


@pytest.mark.parametrize(
    "text, why",
    [
        ("a,b\n1,2\n", "it has no line with the headings ID and Kernel Name, as `ncu --csv` prints them"),
        (f"{IDENTITY}\n", "it has no launch"),
        (f"{IDENTITY},x\n{FIRST}\n", "a row has 11 cells, and there are 12 headings"),
        (
            f'{IDENTITY},"Metric Name","Metric Unit","Metric Value"\n{FIRST},"Threads","thread","8"\n',
            "launch 0 has none of the metrics sm__cycles_elapsed.max, gpc__cycles_elapsed.max, sm__cycles_active.avg, "
            "Elapsed Cycles, SM Active Cycles",
        ),
        (
            "ID,Kernel Name,sm__cycles_elapsed.max\n0,k,5\n",
            "launch 0 has neither a Grid Size nor launch__grid_size",
        ),
    ],
)
def test_what_is_refused(tmp_path, text, why):
    (tmp_path / "p.csv").write_text(text)
    assert gpuprof(tmp_path, "import", "p.csv") == (1, "", f"gpuprof: p.csv: cannot be imported: {why}\n")
