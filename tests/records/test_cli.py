"""gpuprof records and gpuprof correlate, run as a user runs them; and the pages generated from the schemas."""

import csv
import io
import json
import subprocess
import sys

import pytest

from gpuprof.correlate import describe as describe_database
from gpuprof.records import describe as describe_records
from gpuprof.records.writer import RecordWriter
from gpuprof.timing.sampling.control_registers import REGISTERS
from tests.paths import DOCS
from tests.support.recordings import META, SAMPLES, gpuprof, launch_fields, write_saxpy

TEXT = """\
launch=0 pc=0x00001000 sm=1 cycle=132 block=0 mask=0xffffffff warp_slot=5 issued=1 scheduler_issued=1 warp=1 resident=4 stalls=selected
launch=0 pc=0x00001010 sm=1 cycle=164 block=1 mask=0x0000ffff warp_slot=6 issued=0 scheduler_issued=0 warp=0 resident=3 stalls=long_scoreboard+drain
launch=0 pc=0x00001010 sm=2 cycle=196 block=1 mask=0xffffffff warp_slot=7 issued=0 scheduler_issued=1 warp=1 resident=1 stalls=wait
"""  # noqa: E501
COMPACT_TEXT = """\
launch=0 pc=0x00001000 sm=1 stalls=selected
launch=0 pc=0x00001010 sm=1 stalls=long_scoreboard+drain
launch=0 pc=0x00001010 sm=2 stalls=wait
"""
CSV = """\
launch,pc,sm,cycle,block,mask,warp_slot,issued,scheduler_issued,warp,resident,stalls
0,0x00001000,1,132,0,0xffffffff,5,1,1,1,4,selected
0,0x00001010,1,164,1,0x0000ffff,6,0,0,0,3,long_scoreboard+drain
0,0x00001010,2,196,1,0xffffffff,7,0,1,1,1,wait
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    write_saxpy(folder / "saxpy.gprec")
    write_saxpy(folder / "compact.gprec", record="compact")
    (folder / "cut.gprec").write_bytes((folder / "saxpy.gprec").read_bytes()[:-5])
    with RecordWriter(folder / "two.gprec") as writer:
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        for launch in (0, 1):
            rows = SAMPLES.copy()
            rows["launch"] = launch
            writer.launch_begin(launch_fields(launch))
            writer.samples(launch, rows[launch:])
    with RecordWriter(folder / "none.gprec") as writer:
        writer.meta(META)
    return folder


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["saxpy.gprec"], TEXT),
        (["compact.gprec"], COMPACT_TEXT),
        (["saxpy.gprec", "--format", "csv"], CSV),
        (["saxpy.gprec", "--limit", "2"], "".join(TEXT.splitlines(keepends=True)[:2])),
        (["two.gprec", "--launch", "1"], TEXT.partition("\n")[2].replace("launch=0", "launch=1")),
        (
            ["two.gprec", "--launch", "1", "--limit", "1"],
            TEXT.splitlines(keepends=True)[1].replace("launch=0", "launch=1"),
        ),
    ],
)
def test_output(folder, arguments, expected):
    assert gpuprof(folder, "records", *arguments) == (0, expected, "")


def test_json_lines_and_csv_agree(folder):
    """The same records, read by the standard library's own readers."""
    objects = [
        json.loads(line) for line in gpuprof(folder, "records", "saxpy.gprec", "--format", "json")[1].splitlines()
    ]
    rows = list(csv.DictReader(io.StringIO(CSV)))
    assert len(objects) == len(rows) == 3
    for fields, row in zip(objects, rows, strict=True):
        assert fields["stalls"] == row["stalls"].split("+")
        assert {name: int(row[name], 0) for name in row if name != "stalls"} == {
            n: v for n, v in fields.items() if n != "stalls"
        }


CUT = "at byte {} a chunk of 26 bytes ends after 21: the recording was cut off"


@pytest.mark.parametrize(
    ("arguments", "code", "out", "error"),
    [
        (["cut.gprec"], 1, TEXT, f"cut.gprec: {CUT}; the records above are intact"),
        (
            ["none.gprec"],
            4,
            "",
            "none.gprec: no samples in it: collect with a shorter --period, fewer events per --trigger, or a wider "
            "--filter",
        ),
        (
            ["two.gprec", "--launch", "2"],
            2,
            "",
            "--launch 2: there is no such launch in two.gprec; it has launches 0 to 1",
        ),
        (["absent.gprec"], 2, "", "absent.gprec: there is no such file"),
        (["."], 2, "", ".: is a folder; expected a regular file"),
    ],
)
def test_what_bad_input_gets(folder, arguments, code, out, error):
    position = (folder / "saxpy.gprec").stat().st_size - 38
    assert gpuprof(folder, "records", *arguments) == (code, out, f"gpuprof: {error.format(position)}\n")


def test_a_reader_that_leaves(folder):
    """`gpuprof records | head -1`: no complaint."""
    command = [sys.executable, "-m", "gpuprof", "records", folder / "saxpy.gprec"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (0, b"")
    process.stderr.close()


def test_correlate_command(tmp_path):
    write_saxpy(tmp_path / "saxpy.gprec")
    assert gpuprof(tmp_path, "correlate", "saxpy.gprec") == (0, "saxpy.gpudb: 1 launch\n", "")
    assert gpuprof(tmp_path, "correlate", "saxpy.gprec", "-o", "other.db") == (0, "other.db: 1 launch\n", "")
    assert (tmp_path / "saxpy.gpudb").read_bytes() == (tmp_path / "other.db").read_bytes()


def test_correlate_of_a_damaged_recording(tmp_path, folder):
    error = (
        f"cut.gprec: {CUT.format((folder / 'saxpy.gprec').stat().st_size - 38)}; cut.gpudb holds the launches "
        "before the damage"
    )
    assert gpuprof(folder, "correlate", "cut.gprec", "-o", str(tmp_path / "cut.gpudb"))[0] == 1
    (tmp_path / "cut.gprec").write_bytes((folder / "cut.gprec").read_bytes())
    assert gpuprof(tmp_path, "correlate", "cut.gprec") == (1, "", f"gpuprof: {error}\n")


def test_correlate_does_not_replace_its_input(tmp_path):
    before = write_saxpy(tmp_path / "saxpy.gpudb").read_bytes()
    error = "gpuprof: saxpy.gpudb: is read by this command; give another name\n"
    assert gpuprof(tmp_path, "correlate", "saxpy.gpudb") == (2, "", error)
    assert (tmp_path / "saxpy.gpudb").read_bytes() == before


def test_correlate_replaces_databases_only(tmp_path):
    write_saxpy(tmp_path / "saxpy.gprec")
    other = write_saxpy(tmp_path / "other.gprec").read_bytes()
    error = (
        "gpuprof: other.gprec: is no database of a recording, and would be overwritten; give another name, or "
        "--force to overwrite it\n"
    )
    assert gpuprof(tmp_path, "correlate", "saxpy.gprec", "-o", "other.gprec") == (2, "", error)
    assert (tmp_path / "other.gprec").read_bytes() == other
    for _ in range(2):
        assert gpuprof(tmp_path, "correlate", "saxpy.gprec", "-o", "again.gpudb") == (0, "again.gpudb: 1 launch\n", "")


@pytest.mark.parametrize(("page", "module"), [("gprec.md", describe_records), ("gpudb.md", describe_database)])
def test_pages_are_in_step_with_the_schemas(page, module):
    text = (DOCS / page).read_text()
    assert text == module.describe(), f"write it anew: python -m {module.__name__} > docs/{page}"


def test_the_page_of_recordings_has_all_registers_of_the_sampler():
    assert tuple(describe_records.REGISTERS) == REGISTERS
