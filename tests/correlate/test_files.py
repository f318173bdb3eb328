"""Correlate at the edges: determinism, bounded memory, counting against a slow twin, hostile recordings, foreign
databases.
"""

import collections
import os
import sqlite3
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.correlate import sample_counts
from gpuprof.correlate.correlate import correlate
from gpuprof.correlate.database import ensure_database, open_database
from gpuprof.correlate.sample_counts import SampleCounts, first_reasons
from gpuprof.correlate.schema import APPLICATION_ID
from gpuprof.errors import FileFormatError, UsageError
from gpuprof.isa.stalls import INDEX, N_REASONS
from gpuprof.records.encoding import LaunchRows
from gpuprof.records.schema import BY_TYPE
from gpuprof.records.writer import RecordWriter
from gpuprof.tables.launch import COUNTERS, LEDGER
from gpuprof.tables.samples import COMPACT, WIDE
from tests.support.recordings import (
    CHIP,
    META,
    RIGHT,
    SAMPLES,
    gpuprof,
    launch_fields,
    saxpy_program,
    stall_word,
    timing,
    write_saxpy,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class Parts:
    """The parts of a recording; a test changes one."""

    def __init__(self, **changes):
        self.modules = [(0, 0x1000, write_gpubin(saxpy_program()), 48)]
        self.launch = launch_fields()
        self.samples = SAMPLES
        self.ledger_rows = np.array([(0x1000, 0, 4)], LEDGER.dtype)
        self.counters_rows = np.zeros(0, COUNTERS.dtype)
        vars(self).update(changes)

    def write(self, path: Path) -> Path:
        with RecordWriter(path) as writer:
            writer.meta(META)
            writer.chip(CHIP)
            for number, load_base, image, code_nbytes in self.modules:
                writer.module(
                    number,
                    name="saxpy.cu",
                    load_base=load_base,
                    code_nbytes=code_nbytes,
                    image=image,
                    compiler="c",
                    arch="sm_80",
                )
            writer.launch_begin(self.launch)
            writer.samples(0, self.samples)
            writer.rows(LEDGER, 0, self.ledger_rows)
            writer.rows(COUNTERS, 0, self.counters_rows)
            writer.launch_end(0, timing(samples_due=len(self.samples), samples_kept=len(self.samples)))
        return path


def query(path: Path, text: str) -> list[tuple]:
    return ensure_database(path).execute(text).fetchall()


# Determinism and size.


def test_same_bytes_in_another_process_with_another_hash_seed(tmp_path):
    write_saxpy(tmp_path / "a.gprec")
    for seed in ("0", "1", "random"):
        command = [sys.executable, "-m", "gpuprof", "correlate", "a.gprec", "-o", f"{seed}.gpudb"]
        subprocess.run(
            command, cwd=tmp_path, env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True
        )
    assert len({(tmp_path / f"{seed}.gpudb").read_bytes() for seed in ("0", "1", "random")}) == 1
    assert names(tmp_path) == ["0.gpudb", "1.gpudb", "a.gprec", "random.gpudb"]


def test_a_million_records_in_bounded_memory(tmp_path):
    rows = np.zeros(1 << 20, WIDE.dtype)
    rows["pc"] = 0x1000 + 16 * (np.arange(len(rows)) % 3)
    rows["stall_sm"] = stall_word("wait")
    path = Parts(samples=rows).write(tmp_path / "a.gprec")
    assert path.stat().st_size > 32 << 20
    del rows
    tracemalloc.start()
    correlate(path, tmp_path / "a.gpudb")
    peak_nbytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_nbytes < 8 << 20
    assert query(path, "SELECT SUM(samples) FROM samples") == [(1 << 20,)]


# Counting.

WORDS = st.builds(
    lambda bits, sm: sum(1 << bit for bit in bits) | sm << 22,
    st.sets(st.integers(0, N_REASONS - 1), min_size=1),
    st.integers(0, 1023),
)
SAMPLE_ROWS = st.lists(
    st.tuples(st.integers(0, 2**32 - 1) | st.sampled_from([16, 32]), WORDS, st.integers(0, 3)), max_size=40
)


@given(st.lists(st.tuples(st.integers(0, 2), SAMPLE_ROWS), max_size=6))
@settings(max_examples=100)
def test_counts_against_a_slow_twin(chunks):
    """Any samples in any chunks of any launches, with a merge at every few rows."""
    expected = collections.Counter()
    counts = SampleCounts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_counts, "MERGE_AT_ROWS", 3)
        for launch, drawn in chunks:
            rows = np.zeros(len(drawn), WIDE.dtype)
            for row, (pc, word, flags) in zip(rows, drawn, strict=True):
                row["pc"], row["stall_sm"], row["flags"] = pc, word, flags
                key = launch, pc, min(bit for bit in range(N_REASONS) if word >> bit & 1)
                expected[key, "all"] += 1
                expected[key, "not issued"] += not flags & 2
            counts.add(BY_TYPE[b"SMPW"], LaunchRows(launch, rows))
    keys = sorted({key for key, _ in expected})
    assert [row[:5] for row in counts.rows()] == [
        (*key, expected[key, "all"], expected[key, "not issued"]) for key in keys
    ]


def test_compact_records_do_not_know_who_issued(tmp_path):
    rows = query(
        write_saxpy(tmp_path / "a.gprec", record="compact"),
        "SELECT pc, reason, samples, samples_not_issued FROM samples",
    )
    wait, long_scoreboard = INDEX["wait"], INDEX["long_scoreboard"]
    assert rows == [(0x1000, 0, 1, None), (0x1010, wait, 1, None), (0x1010, long_scoreboard, 1, None)]


@pytest.mark.parametrize("word", [0, 1 << 22, 1 << 19, 1 << 21 | 5 << 22])
def test_a_stall_word_without_a_known_reason_stops(word):
    with pytest.raises(FileFormatError, match=f"stall word is {word:#010x}"):
        first_reasons(np.array([1, word], np.uint32))


def test_every_reason_is_found_from_its_bit():
    assert first_reasons(np.uint32(1) << np.arange(N_REASONS, dtype=np.uint32)).tolist() == list(range(N_REASONS))
    assert len(first_reasons(np.empty(0, np.uint32))) == 0


def test_code_outside_every_module_is_counted(tmp_path):
    outside = SAMPLES.copy()
    outside["pc"][1:] = 0x9000
    path = Parts(samples=outside, ledger_rows=np.array([(0x1000, 0, 4), (0x9000, 0, 7)], LEDGER.dtype)).write(
        tmp_path / "a.gprec"
    )
    meta = dict(query(path, "SELECT key, value FROM meta WHERE key LIKE '%outside'"))
    assert meta == {"samples_outside": "2", "ledger_cycles_outside": "7"}
    assert query(path, "SELECT SUM(samples) FROM samples") == [(3,)]


def test_a_launch_that_did_not_end(tmp_path):
    path = tmp_path / "a.gprec"
    with pytest.raises(KeyboardInterrupt), RecordWriter(path) as writer:
        writer.meta(META)
        writer.module(
            0,
            name="saxpy.cu",
            load_base=0x1000,
            code_nbytes=48,
            image=write_gpubin(saxpy_program()),
            compiler="c",
            arch="a",
        )
        writer.launch_begin(launch_fields())
        writer.samples(0, SAMPLES)
        raise KeyboardInterrupt
    assert query(
        path,
        "SELECT start_cycle, end_cycle, cycles, samples_due, samples_kept, samples_dropped, complete FROM launches",
    ) == [(0, 0, 0, 3, 3, 0, 0)]
    assert query(path, "SELECT value FROM meta WHERE key IN ('complete', 'damage', 'marks') ORDER BY key") == [
        ("0",),
        ("",),
        ("interrupted",),
    ]


def test_a_cut_recording_gives_what_comes_before(tmp_path):
    path = write_saxpy(tmp_path / "a.gprec")
    path.write_bytes(path.read_bytes()[:-5])
    assert correlate(path, tmp_path / "a.gpudb").damage
    db = open_database(tmp_path / "a.gpudb")
    assert db.execute("SELECT SUM(cycles) FROM ledger").fetchone() == (664,)
    ((damage,),) = db.execute("SELECT value FROM meta WHERE key = 'damage'")
    assert damage.endswith("a chunk of 26 bytes ends after 21: the recording was cut off")


# Recordings that cannot be.

IMAGE = write_gpubin(saxpy_program())
NONSENSE_CODE = saxpy_program().code.copy()
NONSENSE_CODE["opcode"][1] = 0xFFFF

HOSTILE = {
    "modules 0 and 1 overlap at address 0x1020": {"modules": [(0, 0x1000, IMAGE, 48), (1, 0x1020, IMAGE, 48)]},
    "module 0 (saxpy.cu): its image has 48 bytes of code, where the recording says 64": {
        "modules": [(0, 0x1000, IMAGE, 64)]
    },
    "module 0 (saxpy.cu): not a gpubin": {"modules": [(0, 0x1000, b"\x89PNG", 48)]},
    "module 0 (saxpy.cu): damaged gpubin: ": {
        "modules": [(0, 0x1000, write_gpubin(replace(saxpy_program(), code=NONSENSE_CODE)), 48)]
    },
    "launch 0 is of 'nosuch', which module 0 does not have": {"launch": launch_fields(symbol="nosuch")},
    "launch 0 has reason 19 in ledger; there are 19": {"ledger_rows": np.array([(0x1000, 19, 4)], LEDGER.dtype)},
    "cycles of ledger up to launch 0 sum to 9223372036854775808, more than 2^63 - 1": {
        "ledger_rows": np.array([(0x1000, 1, 1 << 63)], LEDGER.dtype)
    },
    "operations that threads could do up to launch 0 sum to 9223372036854775808, more than 2^63 - 1": {
        "counters_rows": np.array([(0x1000, 0, 1, 0, 1 << 52, *[0] * 7)], COUNTERS.dtype)
    },
    "contradicts itself: UNIQUE constraint failed": {"ledger_rows": np.array([(0x1000, 1, 1)] * 2, LEDGER.dtype)},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_recording_that_cannot_be(tmp_path, what):
    path = Parts(**HOSTILE[what]).write(tmp_path / "a.gprec")
    (tmp_path / "a.gpudb").write_bytes(b"the database of yesterday")
    with pytest.raises(FileFormatError) as caught:
        correlate(path, tmp_path / "a.gpudb")
    assert what in str(caught.value)
    assert names(tmp_path) == ["a.gprec", "a.gpudb"]
    assert (tmp_path / "a.gpudb").read_bytes() == b"the database of yesterday"


def test_places_that_cannot_be_written(tmp_path):
    path = write_saxpy(tmp_path / "a.gprec")
    with pytest.raises(UsageError, match="is a folder; give a file name"):
        correlate(path, tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        correlate(path, tmp_path / "none" / "a.gpudb")


# Databases of others.


@pytest.fixture
def database(tmp_path):
    correlate(write_saxpy(tmp_path / "a.gprec"), tmp_path / "a.gpudb")
    return tmp_path / "a.gpudb"


def change(path: Path, script: str) -> None:
    db = sqlite3.connect(path)
    db.executescript(script)
    db.close()


FOREIGN = {
    f"PRAGMA application_id = {APPLICATION_ID + 1}": "is a SQLite file of another program, not a .gpudb that `gpuprof "
    "correlate` made",
    "PRAGMA user_version = 13": "has schema version 13, and this gpuprof reads up to 12: use a newer gpuprof",
    "DROP VIEW lines; DROP TABLE meta": "lacks or has altered: lines, meta; correlate the recording again",
    "ALTER TABLE ledger RENAME COLUMN cycles TO ticks": "lacks or has altered: ledger, lines; correlate the recording "
    "again",
}


@pytest.mark.parametrize("script", FOREIGN)
def test_a_foreign_or_newer_database(database, script):
    change(database, script)
    with pytest.raises(FileFormatError) as caught:
        open_database(database)
    assert str(caught.value) == f"{database}: {FOREIGN[script]}"


def test_own_views_and_indexes_are_welcome(database):
    change(database, "CREATE VIEW mine AS SELECT * FROM ledger; CREATE INDEX by_line ON instructions (source, line)")
    assert open_database(database).execute("SELECT SUM(cycles) FROM mine").fetchone() == (664,)


@pytest.mark.parametrize(
    "data", [b"", b"x", b"\x7fELF" + bytes(100), b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_that_is_no_database(tmp_path, data):
    (tmp_path / "a.gpudb").write_bytes(data)
    with pytest.raises(FileFormatError, match=r"a\.gpudb: "):
        ensure_database(tmp_path / "a.gpudb")


def test_a_truncated_database(database):
    data = database.read_bytes()
    for length in range(100, len(data), 1000):
        if not any(data[length:]):  # SQLite reads what lacks of a page as zeros
            continue
        database.write_bytes(data[:length])
        with pytest.raises(FileFormatError, match="damaged"):
            open_database(database)


def test_no_file_and_a_folder(tmp_path):
    for path, why in (
        (tmp_path / "none.gpudb", "there is no such file"),
        (tmp_path, "is a folder; expected a regular file"),
    ):
        with pytest.raises(UsageError, match=why):
            ensure_database(path)


def test_the_database_cannot_be_written_through(database):
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        open_database(database).execute("DELETE FROM ledger")


def test_odd_file_names(tmp_path):
    path = tmp_path / "a?b#c %41.gpudb"
    correlate(write_saxpy(tmp_path / "a.gprec"), path)
    assert open_database(path).execute("SELECT COUNT(*) FROM launches").fetchone() == (1,)


def test_ensure_database_leaves_no_file(tmp_path):
    ensure_database(write_saxpy(tmp_path / "a.gprec"))
    assert names(tmp_path) == ["a.gprec"]


def test_compact_dtype_is_the_start_of_the_wide_one():
    assert WIDE.dtype.descr[: len(COMPACT.dtype)] == COMPACT.dtype.descr


@pytest.mark.parametrize("command", [("report", "a.gpudb"), ("check", "a.gpudb", "--baseline", "b.toml")])
def test_results_of_a_database_that_was_edited(tmp_path, command):
    """A text is not a number, and is_wrong is not decided on it."""
    write_saxpy(tmp_path / "a.gprec", results=(RIGHT,))
    assert gpuprof(tmp_path, "correlate", "a.gprec")[0] == 0
    with sqlite3.connect(tmp_path / "a.gpudb") as db:
        db.execute("UPDATE results SET differ = 'none'")
    code, _, error = gpuprof(tmp_path, *command)
    message = (
        "a.gpudb: is damaged: results.differ is 'none' at result 0; expected an integer, 0 to 9223372036854775807; "
        "correlate the recording again"
    )
    assert (code, error) == (1, f"gpuprof: {message}\n")
