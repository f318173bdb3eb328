"""The trace cell's flags, from the command line to the database and back."""

import csv
import io
import json
import sqlite3
from contextlib import closing

import pytest

from gpuprof.cli.options.table import SAMPLER, VOCABULARY
from gpuprof.correlate import thinning
from gpuprof.errors import UsageError
from gpuprof.isa.vocabularies import VOCABULARIES
from gpuprof.records import sampling_registers
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.reader import read_recording
from gpuprof.report.triage import ranking
from gpuprof.tables.launch import COUNTERS
from gpuprof.timing.sampling import configuration, triggers
from gpuprof.timing.sampling.control_registers import REGISTERS
from tests.support.command import gpuprof, write_files

KERNEL = """
__global__ void turn(int *data, int n) {
    __shared__ int tile[32 * 32];
    int k = threadIdx.x;
    for (int i = 0; i < n; i++) {
        tile[k * 32] = data[k + i * 32];
        __syncthreads();
        data[k] = tile[(31 - k) * 32];
        __syncthreads();
    }
}
"""
LAUNCH = ("--launch", "turn<<<4, 32>>>(i32[512], 8)", "--seed", "3")


@pytest.fixture
def folder(tmp_path):
    return write_files(tmp_path, {"turn.cu": KERNEL})


def told(folder, *words) -> str:
    code, out, error = gpuprof(folder, *words)
    assert (code, error) == (0, "")
    return out


def rows(path, query) -> list[tuple]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def test_index_and_vector_have_the_same_totals(folder):
    found = {}
    for stall in ("vector", "index"):
        told(
            folder, "collect", "turn.cu", *LAUNCH, "--period", "32", "--mode", "all", "--stall", stall, "-o", "k.gprec"
        )
        told(folder, "correlate", "k.gprec", "-o", "k.gpudb")
        found[stall] = rows(folder / "k.gpudb", "SELECT * FROM samples"), read_recording(folder / "k.gprec")
        fields = [
            int(row["stall_sm"]) & 0x3FFFFF
            for chunk, payload in read_chunks(folder / "k.gprec")
            if chunk.type == b"SMPW"
            for row in payload.rows
        ]
        assert fields and (max(fields) < 22) == (stall == "index")
    assert found["index"][0] == found["vector"][0]
    named = [json.loads(line)["stalls"] for line in told(folder, "records", "k.gprec", "--format", "json").splitlines()]
    assert all(len(names) == 1 for names in named)
    first = [int(row["stall_sm"]) & -int(row["stall_sm"]) for row in found["vector"][1].launches[0].samples]
    assert [int(row["stall_sm"]) & 0x3FFFFF for row in found["index"][1].launches[0].samples] == first


def test_events_of_the_command_line(folder):
    """Of 4 blocks, a warp each, every eighth conflict: 8 turns, each with a store and a load of 31 passes too many."""
    out = told(folder, "collect", "turn.cu", *LAUNCH, "--trigger", "bank_conflict:8")
    assert "64 samples" in out  # of each warp, 2 * 8 instructions, each of which has at least one eighth event
    recording = read_recording(folder / "turn.gprec")
    recorded = recording.meta["sampling"]
    assert (recorded["trigger"], recorded["every"], recorded["mode"], recorded["period_cycles"]) == (
        "bank_conflict",
        8,
        "trigger",
        0,
    )
    assert "--trigger bank_conflict:8 --mode trigger --seed 3" in recording.meta["command"]
    told(folder, "correlate", "turn.gprec")
    lines = {
        text
        for (text,) in rows(folder / "turn.gpudb", "SELECT DISTINCT line FROM samples JOIN instructions USING (pc)")
    }
    assert lines == {6, 8}
    report = told(folder, "report", "turn.gprec")
    assert "64, trigger bank_conflict:8 (trigger), dropped 0" in report


def test_counters(folder):
    told(
        folder,
        "collect",
        "turn.cu",
        *LAUNCH,
        "--period",
        "64",
        "--record",
        "wide+counters",
        "--counters",
        "active,pipes,l1",
    )
    text = told(folder, "records", "turn.gprec", "--counters", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(text)))
    kept = {
        (int(row["cycle"]), int(row["stall_sm"]) >> 22)
        for row in read_recording(folder / "turn.gprec").launches[0].samples
    }
    assert {(int(row["cycle"]), int(row["sm"])) for row in found} == kept and len(found) == len(kept)
    assert {row["active"] for row in found} == {"1"} and {row["issued"] for row in found} == {"0"}
    assert [
        json.loads(line)["l1_sectors"]
        for line in told(folder, "records", "turn.gprec", "--counters", "--format", "json").splitlines()
    ] == [int(row["l1_sectors"]) for row in found]
    told(folder, "correlate", "turn.gprec")
    assert rows(folder / "turn.gpudb", "SELECT COUNT(*), MAX(l2_sectors) FROM sampled_counters") == [(len(found), 0)]


def test_what_does_not_go_together(folder):
    for words, message in (
        (["--trigger", "l1_miss"], "'l1_miss' does not say how many; give the number of events, as in l1_miss:100"),
        (
            ["--trigger", "l1_miss:5", "--period", "64"],
            "sampling trigger l1_miss: it excludes a period in cycles; leave out one of them",
        ),
        (["--mode", "trigger"], "give a trigger, such as l1_miss"),
        (["--partition", "4"], "sampling of partition 4: an SM of a100 has 4, from 0 on"),
        (
            ["--counters", "l3"],
            "sampling counter 'l3': it must be one of issued, eligible, active, pipes, l1, l2, dram",
        ),
    ):
        code, _, error = gpuprof(folder, "collect", "turn.cu", *LAUNCH, *words)
        assert code == 2 and message in error
    told(folder, "collect", "turn.cu", *LAUNCH)
    assert gpuprof(folder, "records", "turn.gprec", "--counters")[2] == (
        "gpuprof: turn.gprec: no counter records in it: collect with --record wide+counters\n"
    )


def test_what_commands_know_before_they_import_the_rest_is_so():
    flags = {row.flags: row.type for row in SAMPLER}
    assert tuple(flags["--mode"].choices) == configuration.MODES
    assert tuple(flags["--stall"].choices) == configuration.STALL_FIELDS
    assert tuple(flags["--stream"].choices) == configuration.STREAMS
    for depth in (flags["--fifo"].min, flags["--fifo"].max):
        assert configuration.Sampling(fifo_depth=depth).fifo_depth == depth
    for depth in (flags["--fifo"].min - 1, flags["--fifo"].max + 1):
        with pytest.raises(UsageError):
            configuration.Sampling(fifo_depth=depth)
    registers = set(REGISTERS) - {"filter", "every", "auto_period"}
    assert {row.fills for row in SAMPLER} == {f"sampling.{name}" for name in registers}
    assert tuple(VOCABULARY.choices) == tuple(VOCABULARIES)
    assert sampling_registers.CYCLES == triggers.CYCLES and set(sampling_registers.MODES) < set(configuration.MODES)
    assert ranking.MIN_PERIOD_CYCLES == thinning.MIN_PERIOD_CYCLES == configuration.MIN_PERIOD_CYCLES


def test_period_auto_says_what_it_found(folder):
    told(folder, "collect", "turn.cu", *LAUNCH, "--period", "auto")
    recording = read_recording(folder / "turn.gprec")
    assert (recording.meta["sampling"]["period_cycles"], recording.meta["sampling"]["auto_period"]) == (0, 1)
    assert "--period auto" in recording.meta["command"]
    # a block, one warp, on each SM: a record in 32 cycles fits
    assert recording.launches[0].begin["sampling"] == {"period_cycles": 32}
    found = recording.launches[0].samples
    told(folder, "collect", "turn.cu", *LAUNCH, "--period", "32", "-o", "set.gprec")
    assert found.tolist() == read_recording(folder / "set.gprec").launches[0].samples.tolist()
    told(folder, "correlate", "turn.gprec")
    assert rows(folder / "turn.gpudb", "SELECT * FROM samplers") == [(0, "period_cycles", 32)]
    page = told(folder, "report", "turn.gprec")
    assert "period 32 cycles (random), dropped 0" in page
    assert "# note       --period auto: 32 cycles is the shortest period without losses, throughout\n" in page
    assert told(folder, "quality", "turn.gprec", "--format", "csv") == told(
        folder, "quality", "set.gprec", "--format", "csv"
    )


WINDING = """
__global__ void collatz(int *data, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    for (int x = k + 1; x != 1 && k < n; steps++)
        if (x % 2) x = 3 * x + 1;
        else x /= 2;
    data[k] = steps;
}
"""


def test_every_event_is_a_sample_where_one_issues_at_a_time(tmp_path):
    """On SMs of one partition no two events share a cycle: as many samples are due as the exact counters say."""
    chip = 'inherits = "v100"\npartitions = 1\nwarp_slots = 32\n'
    write_files(tmp_path, {"collatz.cu": WINDING, "one.toml": chip})
    for trigger, counted in (
        ("divergent_branch", lambda launch: launch.rows[COUNTERS]["divergent_branches"].sum()),
        ("inst_issued", lambda launch: launch.end["counters"]["issue_slots"]),
    ):
        launched = ("--launch", "collatz<<<3, 96>>>(i32[288], 280)", "--chip", "one.toml")
        told(tmp_path, "collect", "collatz.cu", *launched, "--trigger", f"{trigger}:1")
        launch = read_recording(tmp_path / "collatz.gprec").launches[0]
        assert launch.end["samples_due"] == counted(launch) > 100


def test_a_slot_whose_turn_never_came_is_said_to_be_why_there_are_no_samples(folder):
    """Few periods in a launch of one warp: the counter stands at slots that are empty."""
    told(folder, "collect", "turn.cu", *LAUNCH, "--period", "2048", "--mode", "round-robin", "-o", "k.gprec")
    code, _, error = gpuprof(folder, "report", "k.gprec")
    assert code == 4 and "mode round-robin samples each warp slot of an SM once" in error
