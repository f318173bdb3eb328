"""A synthetic recording as a database: every table, whole."""

import numpy as np
import pytest

from gpuprof.correlate.correlate import correlate
from gpuprof.correlate.database import ensure_database, open_database
from gpuprof.correlate.program_tables import access
from gpuprof.errors import FileFormatError
from gpuprof.isa.causes import KINDS
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.stalls import INDEX, REASONS
from gpuprof.records.reader import read_recording
from gpuprof.relate.task_kinds import RELATIONS
from gpuprof.tables.blocks import ACCESS_COUNTERS, BLOCK_COUNTERS, REUSE_DISTANCES, WARP_COUNTERS
from gpuprof.tables.launch import (
    ACTIVITY,
    ACTIVITY_OF_SMS,
    ACTIVITY_STALLS,
    BANK_PATTERNS,
    CAUSES,
    LOSSES,
    STALL_LENGTHS,
    STALLS,
)
from gpuprof.tables.samples import SAMPLED_COUNTERS
from tests.support.recordings import HEADER_PATH, RIGHT, SOURCE, WRONG, write_saxpy

SELECTED, WAIT, LONG, DRAIN = (INDEX[name] for name in ("selected", "wait", "long_scoreboard", "drain"))

TABLES = {
    "modules": [(0, "saxpy.cu", 0x1000, 48, "clang 22", "sm_80", ".version 8.0\n")],
    "sources": [(0, HEADER_PATH, None), (1, "saxpy.cu", SOURCE)],
    "functions": [(0, 0, "_Z5saxpyifPfS_", "saxpy", 1, 0x1000, 3, 12, 0, 0, 0)],
    "instructions": [
        (0x1000, 0, 0, "IADD R1, R2, R3", "IADD", 1, 4, 5, 10, "", "", 0, "int", 1),
        (0x1010, 0, 0, "LDG.32 R1, [R0+0x10]", "LDG.32", 0, 7, 12, 11, "global", "load", 4, "", 0),
        (0x1020, 0, 0, "EXIT", "EXIT", None, 0, 0, 0, "", "", 0, "", 0),
    ],
    "repetitions": [],
    "advice": [],
    "whatif": [],
    "atomic_lines": [],
    "trace_launches": [],
    "trace_tables": [],
    "trace_columns": [],
    "findings": [
        (
            0,
            0,
            "",
            "uncoalesced",
            "advice",
            "Uncoalesced global access in blas.h:7: 16 sectors for 0, none would do. "
            "Let neighbouring threads touch neighbouring addresses, or go through shared memory.",
            0x1010,
            None,
            None,
            None,
            None,
            None,
            "",
            16,
            None,
        ),
    ],
    "task_rows": [],
    "tasks": [],
    "parameters": [],
    "relation_kinds": [(kind.name, kind.inverse, kind.follows, kind.text) for kind in sorted(RELATIONS)],
    "stored_relations": [],
    "task_constraints": [],
    "accesses_by_task": [],
    "task_findings": [],
    "api_calls": [],
    "device_operations": [],
    "relations": [],
    # R2, R3 and the address R0; R0
    "live_registers": [(0x1000, 3), (0x1010, 1), (0x1020, 0)],
    "inline_frames": [(0x1010, 1, "axpy", 1, 4)],
    "launches": [(0, 0, "saxpy", "2,1,1", "64,1,1", 0, 0, "", 100, 300, 200, 3, 3, 0, 0, 1)],
    "launch_metrics": [
        (0, "dram_read_nbytes", 1024),
        (0, "dram_write_nbytes", 512),
        (0, "local_nbytes", 0),
        (0, "occupancy_limiter", "registers"),
        (0, "registers", 12),
        (0, "shared_nbytes", 0),
    ],
    "results": [
        (0, 0, "x", "zeros", 64, 0, "1e-05", "0", "", "", "", "", ""),
        (1, 0, "y", "ref.npy", 64, 3, "1e-05", "0", "[5]", "1.5", "2.0", "0.5", "0.25"),
    ],
    "stall_reasons": [(number, reason.name, reason.text) for number, reason in enumerate(REASONS)],
    "cause_kinds": [(number, *kind) for number, kind in enumerate(KINDS)],
    # The second sample held two reasons, long_scoreboard and drain: the first counts.
    "samples": [(0, 0x1000, SELECTED, 1, 0, 4), (0, 0x1010, WAIT, 1, 0, 1), (0, 0x1010, LONG, 1, 1, 3)],
    # Weights 4, 3 and 1 are worth 8^2 / (16 + 9 + 1) = 2.4615 samples. Half the weight is at each of two instructions,
    # so a cycle's excess over its half is 2, -1.5, -0.5 at the first and the opposite at the second: the differences
    # squared are 2 (3.5^2 + 1^2) = 26.5, the variance
    # 26.5 / 2 * 3/2 / 8^2 = 0.3105; that of 2.4615 independent samples is (1 - 2/4) / 2.4615 = 0.2031. So 2.4615 *
    # 0.2031 / 0.3105 = 1.61.
    "sample_sizes": [(0, 1.61)],
    "ledger": [(0, 0x1000, SELECTED, 4), (0, 0x1010, LONG, 600), (0, 0x1020, DRAIN, 60)],
    "samplers": [],
    "sample_losses": [],
    "sampled_counters": [],
    "stalls": [],
    "stall_lengths": [],
    "activity": [],
    "activity_of_sms": [],
    "activity_stalls": [],
    "causes": [],
    "bank_patterns": [],
    "access_counters": [],
    "reuse_distances": [],
    "block_counters": [],
    "warp_counters": [],
    "counters": [(0, 0x1000, 4, *[0] * 9), (0, 0x1010, 4, 0, 0, 0, 0, 16, 0, 0, 0, 0)],
    "meta": [
        ("chip", "a100"),
        ("chip_json", '{"clock_mhz": 1410, "name": "a100", "sms": 108}'),
        ("command", "gpuprof collect saxpy.cu"),
        ("complete", "1"),
        ("damage", ""),
        ("ledger_cycles_outside", "0"),
        ("marks", ""),
        ("mode", "random"),
        ("model_version", "1"),
        ("period_cycles", "32"),
        ("record", "wide"),
        ("samples_outside", "0"),
        ("seed", "0"),
        ("tool", "gpuprof"),
        ("tool_version", "0.1.0"),
    ],
    **{key: [] for key in ("draws", "draw_launches", "draw_units", "draw_work", "draw_traffic")},
    **{key: [] for key in ("draw_waves", "block_primitives")},
    "operations": [(0, 0x1000, "int", 0)],  # none of the warps' threads is in the counters
    "lines": [(0, None, 0, 60, 0), (0, 0, 7, 600, 0), (0, 1, 4, 4, 4)],
}


@pytest.fixture
def saxpy(tmp_path):
    return write_saxpy(tmp_path / "saxpy.gprec", results=(RIGHT, WRONG))


@pytest.mark.parametrize("table", TABLES)
def test_table(saxpy, table):
    db = ensure_database(saxpy)
    assert db.execute(f"SELECT * FROM {table}").fetchall() == TABLES[table]


def test_what_the_sampler_and_the_ledger_add(tmp_path):
    """A recording with one row of each further chunk: read back, and in its table."""
    rows = {
        SAMPLED_COUNTERS: np.array([(132, 0, 5, 1, 2, 3, 9, 64, 16, 48, 40, 256)], SAMPLED_COUNTERS.dtype),
        STALLS: np.array([(0x1010, LONG, 2, 400)], STALLS.dtype),
        STALL_LENGTHS: np.array([(0x1010, LONG, 7, 1), (0x1010, LONG, 8, 1)], STALL_LENGTHS.dtype),
        CAUSES: np.array([(0x1010, 0x1000, LONG, 3, 5, 600, 2)], CAUSES.dtype),
        LOSSES: np.array([(1, 0, 9, 5, 1)], LOSSES.dtype),
        ACTIVITY: np.array([(100, 128, 90), (228, 128, 72)], ACTIVITY.dtype),
        ACTIVITY_OF_SMS: np.array([(3, 0, 162)], ACTIVITY_OF_SMS.dtype),
        ACTIVITY_STALLS: np.array([(0, SELECTED, 4), (1, LONG, 600)], ACTIVITY_STALLS.dtype),
        BANK_PATTERNS: np.array(
            [
                (0x1000, 0xFFFF, 12, 128, -4, 0, 8, 2, 1, 64, 1064),
                (0x1000, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0),
                (0x1010, 1, 2, 0, 0, 0, 1, 1, 1, 0, 4),
            ],
            BANK_PATTERNS.dtype,
        ),
        ACCESS_COUNTERS: np.array([(0x1000, 0, 2, 64, 16, 4, 8, 4, 6, 0, 3, 1)], ACCESS_COUNTERS.dtype),
        REUSE_DISTANCES: np.array(
            [(0, 0, -1, 4, 16, 8), (0, 1, 10, 1, 4, 0), (0, 2, -1, 4, 0, 0)], REUSE_DISTANCES.dtype
        ),
        BLOCK_COUNTERS: np.array([(110, 290, 0, 1, 7, 2, 9, 8, 300, 16, 4, 3, 900, 12, 5, 7, 2)], BLOCK_COUNTERS.dtype),
        WARP_COUNTERS: np.array([(110, 290, 0, 1, 1, 7, 5, 4, 10, 100, 20, 30, 6, 5, 3, 2)], WARP_COUNTERS.dtype),
    }
    path = write_saxpy(tmp_path / "a.gprec", further=rows, sampling={"period_cycles": 64, "kernels": "saxpy"})
    launch = read_recording(path).launches[0]
    assert {table: launch.rows[table].tolist() for table in rows} == {
        table: written.tolist() for table, written in rows.items()
    }
    db = ensure_database(path)
    tables = ("samplers", "sampled_counters", "stalls", "stall_lengths", "causes", "sample_losses", "bank_patterns")
    tables += ("access_counters", "reuse_distances", "block_counters", "warp_counters")
    tables += ("activity", "activity_stalls", "activity_of_sms")
    assert {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables} == {
        "samplers": [(0, "kernels", "saxpy"), (0, "period_cycles", 64)],
        "sampled_counters": [(0, 132, 1, 2, 3, 9, 5, 64, 16, 48, 40, 256)],
        "stalls": [(0, 0x1010, LONG, 2, 400)],
        "stall_lengths": [(0, 0x1010, LONG, 128, 1), (0, 0x1010, LONG, 256, 1)],
        "causes": [(0, 0x1010, LONG, 0x1000, 3, 1, 0, 1, 600, 2)],
        "sample_losses": [(0, 1, 9, 5, 1)],
        # The last bin ends with the launch.
        "activity": [(0, 0, 100, 228, 90), (0, 1, 228, 300, 72)],
        "activity_of_sms": [(0, 3, 162)],
        "activity_stalls": [(0, 0, SELECTED, 4), (0, 1, LONG, 600)],
        "bank_patterns": [
            (0, 0x1000, 0, 12, 0xFFFF, 128, 8, -4, 2, 0, 1, 64, 1064),
            (0, 0x1000, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, 0x1010, 0, 2, 1, 0, 1, 0, 1, 0, 1, 0, 4),
        ],
        "access_counters": [(0, 0x1000, 2, 64, 16, 4, 8, 4, 6, 0, 3, 1)],
        "reuse_distances": [(0, "block", 10, 1, 4, 0), (0, "device", -1, 4, 16, 8), (0, "launch", -1, 4, 0, 0)],
        "block_counters": [(0, 1, 7, 2, 110, 290, 9, 8, 300, 16, 4, 3, 900, 12, 5, 7, 2)],
        "warp_counters": [(0, 1, 1, 7, 110, 290, 5, 4, 10, 100, 20, 30, 6, 5, 3, 2)],
    }


@pytest.mark.parametrize(
    "bins, stalls",
    [
        ([(100, 64, 0), (228, 64, 0)], []),  # a hole between
        ([(50, 128, 0)], []),  # before the launch
        ([(100, 256, 0), (356, 256, 0)], []),  # behind its end
        ([(100, 128, 0)], [(1, 0, 4)]),  # no such bin
    ],
)
def test_bins_of_time_that_do_not_follow_each_other(tmp_path, bins, stalls):
    rows = {ACTIVITY: np.array(bins, ACTIVITY.dtype), ACTIVITY_STALLS: np.array(stalls, ACTIVITY_STALLS.dtype)}
    path = write_saxpy(tmp_path / "a.gprec", further=rows)
    with pytest.raises(FileFormatError, match="launch 0 has bins of time that do not follow each other"):
        ensure_database(path)


def test_no_table_is_left_out(saxpy):
    names = {name for (name,) in ensure_database(saxpy).execute("SELECT name FROM sqlite_master WHERE sql IS NOT NULL")}
    assert names == {*TABLES, "tasks_parent", "relations_source", "relations_target", "relations_via"}


def test_the_file_holds_what_memory_holds(saxpy, tmp_path):
    correlate(saxpy, tmp_path / "saxpy.gpudb")
    # Packing a file puts its indexes behind their tables.
    assert sorted(open_database(tmp_path / "saxpy.gpudb").iterdump()) == sorted(ensure_database(saxpy).iterdump())


def test_every_instruction_with_an_address_does_something_to_memory():
    found = {row.name: access(row)[1] for row in TABLE if row.space not in ("", "barrier")}
    assert "" not in found.values()
    assert {found["LDG.32"], found["TEX.2D"], found["LDSM.4"], found["SULD.2D.32"]} == {"load"}
    assert {found["CP.ASYNC.16"], found["BULK.LOAD"]} == {"copy"}
    assert (found["MBAR.ARRIVE"], found["BULK.PREFETCH"]) == ("atomic", "prefetch")
    assert {
        operation for name, operation in found.items() if name.startswith(("RED", "SURED", "TMA.RED", "BULK.RED"))
    } == {"reduction"}
