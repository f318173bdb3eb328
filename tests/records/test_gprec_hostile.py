"""Damaged and hostile recordings, in every command that reads one: the readable part, or an error that says why.
GPUPROF_FUZZ=1 tries many more.
"""

import json
import os
import random
import struct
import tracemalloc
from itertools import islice

import numpy as np
import pytest

from gpuprof.records.encoding import file_header, frame
from gpuprof.records.reader import read_recording
from gpuprof.records.schema import BY_TYPE
from gpuprof.report.pages import PAGES
from tests.fuzz.gprec_fuzz import READERS, chunks_of, judge, rounds, sealed, write_everything
from tests.support.matrices import long_from
from tests.support.recordings import gpuprof, launch_fields

N_FILES = 40_000 if os.environ.get("GPUPROF_FUZZ") else 60  # thorough: about an hour


@pytest.mark.parametrize("seed", long_from(1, range(2)))
def test_fuzz_damaged_recordings(tmp_path, seed):
    outcomes = {
        judge(tmp_path, data, random.Random(number), 2) for number, data in islice(rounds(seed, tmp_path), N_FILES // 2)
    }
    assert outcomes == {"read", "refused"}


def test_the_file_that_is_damaged_is_whole(tmp_path):
    """Every type of chunk is in it, and every command but replay, whose stream it has not got, takes it."""
    path = write_everything(tmp_path / "a.gprec")
    write_everything(tmp_path / "everything")
    assert {type_ for type_, _ in chunks_of(path.read_bytes())} == BY_TYPE.keys() - {b"SMPC"}
    for command in READERS:
        if command[0] not in ("replay", "merge"):
            assert gpuprof(tmp_path, *command)[0] == 0, command


# What the fuzzer found, or a hostile mind: the chunk, what it says, and the error. Each gave a traceback once, or
# worse.


def with_json(type_: bytes, **changes):
    """A field of the first chunk of this type is another, or is not there: None."""

    def change(chunks):
        at = [each for each, _ in chunks].index(type_)
        fields = json.loads(chunks[at][1]) | changes
        chunks[at] = type_, json.dumps({name: value for name, value in fields.items() if value is not None}).encode()

    return change


def with_counter(name: str, value):
    def change(chunks):
        at = [type_ for type_, _ in chunks].index(b"LEND")
        end = json.loads(chunks[at][1])
        end["counters"][name] = value
        chunks[at] = b"LEND", json.dumps(end).encode()

    return change


def with_rows(type_: bytes, **columns):
    """The column of the first launch's rows is another in all rows, and in both launches."""

    def change(chunks):
        for at, (each, payload) in enumerate(chunks):
            if each == type_:
                rows = np.frombuffer(payload, BY_TYPE[type_].dtype, -1, 8).copy()
                for name, value in columns.items():
                    rows[name] = value
                chunks[at] = type_, payload[:8] + rows.tobytes()

    return change


BEYOND = {
    # A list went to SQLite, which takes none.
    "has 'parent' = '[0]', which is not an integer from 0 to 2^63 - 1": with_json(b"LNCH", parent=[0]),
    "a.gprec: 65 of the 64 elements of 'y' differ": with_json(b"RSLT", differ=65),
    "contradicts itself: it has data of launch 7, which has not begun": with_json(b"RSLT", launch=7),
    "has 'sampling' = '3', which is not an object of numbers and strings": with_json(b"LNCH", sampling=3),
    # SQLite's SUM over two launches: "integer overflow".
    "cycles of ledger up to launch 1 sum to 9223372036854775808, more than 2^63 - 1": with_rows(
        b"LEDG", cycles=1 << 62
    ),
    "inst_executed of counters up to launch 1 sum to 9223372036854775808": with_rows(b"CNTR", inst_executed=1 << 62),
    "stalls of causes up to launch 1 sum to 9223372036854775808": with_rows(b"CAUS", stalls=1 << 62),
    # An address beyond 64 bits went to SQLite.
    "module 0 ends at address 0x8000000000000020, but code addresses have 32 bits": with_json(
        b"MODL", load_base=(1 << 63) - 16
    ),
    # The report compared the grid with a list.
    "its chip has sms = [108], and a chip has 1 to 1024 SMs": with_json(b"CHIP", sms=[108]),
    "its chip has warp_lanes = 0, and a chip has 32 to 32 lanes": with_json(b"CHIP", warp_lanes=0),
    "its chip has notes = 7, which is not text": with_json(b"CHIP", notes=7),
    # The report added a text to a number.
    "issue_slots of launch 0 is 'many', which is not a number from -2^63 + 1 to 2^63 - 1": with_counter(
        "issue_slots", "many"
    ),
    "l1_hits of launch 0 is 1e+308, which is not a number": with_counter("l1_hits", 1e308),
    # The report made an integer of it.
    "a sampling period of '-0.0', which is not a number of cycles": with_json(
        b"META", sampling={"period_cycles": "-0.0"}
    ),
    "a sampling period of None, which is not a number of cycles": with_json(b"META", sampling={}),
    # Names of trace tables become SQL.
    "'t; DROP TABLE meta' is no name of a trace generator, table or column": with_json(
        b"TRAC", table="t; DROP TABLE meta"
    ),
    "a row in table t of g that its columns do not fit": with_json(b"TRAC", rows=[[1]]),
    "the columns of trace table t do not have names of their own": with_json(b"TRAC", columns=[], rows=[]),
    "trace table t has a column of type 'blob'": with_json(
        b"TRAC", columns=[{"name": "x", "type": "blob", "unit": "", "text": ""}], rows=[]
    ),
    "a finding of severity 'fatal'": with_json(b"FIND", severity="fatal"),
    "launch 0 has kind 60000 in causes; there are": with_rows(b"CAUS", kind=60000),
    "launch 0 has stalls of 2^63 cycles and more": with_rows(b"STLH", bin=63),
    "launch 0 has a pattern of shared memory with runs of no lanes": with_rows(b"BANK", lanes_1=0),
    "launch 0 has reuse distances of scope 3": with_rows(b"REUS", scope=3),
    "launch 0 has reuse distances of -2 lines": with_rows(b"REUS", least_lines=-2),
    "a second draw 0": lambda chunks: chunks.insert(-1, next(each for each in chunks if each[0] == b"DRAW")),
    "draw 0 with one of start_cycle and end_cycle": with_json(b"DRAW", start_cycle=None),
    "a unit of draw 0 that is none: ['fetch', 5]": with_json(b"DRAW", units=[["fetch", 5]]),
    "draw 0 with other counts than draws have": with_json(b"DRAW", counts={"quads": 1}),
    "draw 0, of a task that is not there": with_json(b"DRAW", task=77),
    "draw_work.value is 'many' at draw 0, amount 'n_tiles'": with_json(b"DRAW", work={"n_tiles": "many"}),
    "draws has a time that ends before it begins, of draw 0": with_json(b"DRAW", end_cycle=99),
    "draw_units has times of draw 0, which has none as a whole": with_json(b"DRAW", start_cycle=None, end_cycle=None),
    "draw_units.unit is 'shade'; expected one of command, fetch": with_json(b"DRAW", units=[["shade", 1, 1, 1, 1]]),
    "draw_traffic.unit is 'scan'; expected one of fetch, depth": with_json(b"DRAW", traffic=[["scan", 1, 1, 1, 1]]),
    "traffic of draw 0 that is none: ['depth', 1.5": with_json(b"DRAW", traffic=[["depth", 1.5, 1, 1, 1]]),
    "launch 0 with one of draw and stage": with_json(b"LNCH", stage=None),
    "draw_launches.stage is 'ls'; expected one of vertex, hull": with_json(b"LNCH", stage="ls"),
    "launch 0 has bins of time that do not follow each other": with_rows(b"ACTV", cycle=7),
}


@pytest.mark.parametrize("what", BEYOND)
def test_what_no_run_can_have_said(tmp_path, what):
    chunks = chunks_of(write_everything(tmp_path / "a.gprec").read_bytes())
    BEYOND[what](chunks)
    (tmp_path / "a.gprec").write_bytes(sealed(chunks))
    code, _, error = gpuprof(tmp_path, "correlate", "a.gprec")
    assert code == 1 and what in error, error
    assert gpuprof(tmp_path, "report", "a.gprec")[0] in (1, 4)  # 4: nothing was measured before the damage


def test_stalls_whose_lengths_are_missing(tmp_path):
    """A recording that is cut between the two: the page of stalls took the longest of no lengths."""
    chunks = chunks_of(write_everything(tmp_path / "a.gprec").read_bytes())
    (tmp_path / "a.gprec").write_bytes(sealed([chunk for chunk in chunks if chunk[0] != b"STLH"]))
    for page in PAGES:
        code, _, error = gpuprof(tmp_path, "report", "a.gprec", "--page", page)
        assert code in (0, 4), error


def test_a_stream_without_the_first_chunk(tmp_path):
    """Replay looked for the sampling of a recording that says nothing of it."""
    chunks = chunks_of(write_everything(tmp_path / "a.gprec").read_bytes())
    (tmp_path / "a.gprec").write_bytes(sealed([chunk for chunk in chunks if chunk[0] != b"META"]))
    assert gpuprof(tmp_path, "replay", "a.gprec", "-o", "b.gprec") == (
        1,
        "",
        "gpuprof: a.gprec: its first chunk is CHIP, not META\n",
    )


def test_a_number_too_large_for_any_float_is_no_json(tmp_path):
    """Python reads 1e999 as infinity, which JSON has not got and a report cannot print."""
    path = tmp_path / "a.gprec"
    chunks = chunks_of(write_everything(path).read_bytes())
    path.write_bytes(sealed([chunks[0], (b"MARK", b'{"text":"","cycle":0,"new":1e999}')]))
    assert read_recording(path).damage.endswith("is not JSON (1e999 is too large a number)")


def test_an_integer_of_thousands_of_digits(tmp_path):
    path = tmp_path / "a.gprec"
    chunks = chunks_of(write_everything(path).read_bytes())
    for digits in (4000, 5000):  # Python reads the first and says why it does not read the second
        path.write_bytes(sealed([chunks[0], (b"MARK", b'{"text":"","cycle":1%s}' % (b"0" * digits))]))
        damage = read_recording(path).damage
        assert "the MARK chunk" in damage and len(damage) < 300


# Memory and time: both follow from the file's size, whatever it says.


def peak_nbytes(path) -> int:
    tracemalloc.start()
    read_recording(path, lambda chunk, rows: None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.long
def test_fields_that_no_one_knows_are_not_kept(tmp_path):
    """A quarter of a MB of empty lists, which take 25 times that, in each of six launches: one is in memory at a
    time.
    """
    path = tmp_path / "a.gprec"
    bomb = b'{"new":[' + b"[]," * 80_000 + b"[]],"
    chunks = [chunk for chunk in chunks_of(write_everything(path).read_bytes()) if chunk[0] in (b"META", b"MODL")]
    launches = [(b"LNCH", bomb + json.dumps(launch_fields(number)).encode()[1:]) for number in range(6)]
    path.write_bytes(sealed([*chunks, *launches[:1]]))
    one = peak_nbytes(path)
    path.write_bytes(sealed([*chunks, *launches]))
    assert one > 5 << 20
    assert peak_nbytes(path) < 1.3 * one


def test_launches_take_two_kilobytes_each(tmp_path):
    path = tmp_path / "a.gprec"
    chunks = [chunk for chunk in chunks_of(write_everything(path).read_bytes()) if chunk[0] in (b"META", b"MODL")]
    launches = [(b"LNCH", json.dumps(launch_fields(number)).encode()) for number in range(4_000)]
    path.write_bytes(sealed([*chunks, *launches]))
    assert peak_nbytes(path) < 4_000 * 2048


def test_chunks_without_rows_take_no_memory(tmp_path):
    """A file of 20,000 empty arrays: 20 bytes each in the file."""
    path = tmp_path / "a.gprec"
    chunks = chunks_of(write_everything(path).read_bytes())
    before = [chunk for chunk in chunks if chunk[0] in (b"META", b"MODL")] + [
        (b"LNCH", json.dumps(launch_fields()).encode())
    ]
    data = file_header() + b"".join(frame(*chunk) for chunk in before)
    path.write_bytes(data)
    least = peak_nbytes(path)
    path.write_bytes(data + frame(b"LEDG", struct.pack("<II", 0, 0)) * 20_000)
    assert peak_nbytes(path) < least + (64 << 10)


def test_an_image_in_many_small_pieces_takes_no_longer(tmp_path):
    """100,000 pieces of 40 bytes: added one to the other they were 200 GB to copy."""
    path = tmp_path / "a.gprec"
    chunks = chunks_of(write_everything(path).read_bytes())
    before = [chunk for chunk in chunks if chunk[0] in (b"META", b"MODL")]
    path.write_bytes(sealed(before) + frame(b"IMAG", struct.pack("<I", 0) + b"0123456789" * 4) * 100_000)
    assert len(read_recording(path).modules[0].image) == 4_000_000
