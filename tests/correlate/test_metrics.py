"""Each metric's value from tables that are known, and the formats that the set of metrics is part of."""

import hashlib
import sqlite3
from dataclasses import fields

from gpuprof.check.baseline import FORMAT
from gpuprof.correlate.metrics import METRICS, launch_values
from gpuprof.isa.stalls import NAMES
from gpuprof.sweep.write_table import VERSION
from gpuprof.tables.launch import NUMBERS
from gpuprof.tables.table import WORK
from gpuprof.timing.state.launch_timing import LaunchTiming
from tests.support.recordings import gpuprof, write_saxpy

# Of the second of three instructions; the recording has the first one's `inst_executed` beside it.
COUNTERS = {
    "thread_inst_executed": 128,
    "thread_inst_executed_pred_on": 100,
    "divergent_branches": 3,
    "l1_tag_requests_global": 7,
    "l2_sectors_global": 16,
    "l2_sectors_global_ideal": 6,
    "l2_sectors_local": 5,
    "l1_wavefronts_shared": 9,
    "l1_wavefronts_shared_ideal": 2,
}
TIMING = {
    "l1_sectors": 50,
    "l1_hits": 20,
    "l2_sectors": 30,
    "l2_hits": 19,
    "issue_slots": 8,
    "tensor_busy_cycles": 13,
    "l2_atomic_cycles": 21,
}
OF_LAUNCH = {"shared_nbytes": 2048, "local_nbytes": 16}
WAITED = {"selected": 4, "long_scoreboard": 600, "drain": 60}  # the recording's ledger

EXPECTED = {
    "cycles": 200,
    "inst_executed": 8,
    "thread_inst_executed": 128,
    "thread_inst_executed_pred_on": 200,
    "divergent_branches": 3,
    "l1_tag_requests_global": 7,
    "l2_sectors_global": 16,
    "l2_sectors_global_excessive": 10,
    "l2_sectors_local": 5,
    "l1_wavefronts_shared": 9,
    "l1_wavefronts_shared_excessive": 7,
    "dram_nbytes": 1536,
    "dram_read_nbytes": 1024,
    "dram_write_nbytes": 512,
    "l1_misses": 30,
    "l2_misses": 11,
    "operations_f64": 1200,
    "operations_f32": 0,
    "operations_f16": 400,
    "operations_tensor": 0,
    "l2_atomic_cycles": 21,
    "issue_slots": 8,
    "tensor_busy_cycles": 13,
    "registers": 12,
    "shared_nbytes": 2048,
    "local_nbytes": 16,
    "warp_cycles": 664,
    **{f"warp_cycles_{name}": WAITED.get(name, 0) for name in NAMES},
}


def test_every_metric_has_its_value(tmp_path):
    write_saxpy(tmp_path / "saxpy.gprec", **OF_LAUNCH)
    assert gpuprof(tmp_path, "correlate", "saxpy.gprec")[0] == 0
    with sqlite3.connect(tmp_path / "saxpy.gpudb") as db:
        db.execute(f"UPDATE counters SET {', '.join(f'{name} = {n}' for name, n in COUNTERS.items())} WHERE pc = 4112")
        db.executemany("INSERT INTO launch_metrics VALUES (0, ?, ?)", TIMING.items())
        # The second one's 100 threads do 12 operations of f64 each, the first one's 100 four of bf16.
        db.execute("UPDATE instructions SET precision = 'f64', thread_operations = 12 WHERE pc = 4112")
        db.execute("UPDATE instructions SET precision = 'bf16', thread_operations = 4 WHERE pc = 4096")
        db.execute("UPDATE counters SET thread_inst_executed_pred_on = 100")
        assert launch_values(db) == {0: EXPECTED}, "put the new metric's value into EXPECTED here"


def test_another_set_of_metrics_is_another_format():
    """A count that a baseline leaves out means zero, and a sweep has a column for each."""
    names = "\n".join(metric.name for metric in METRICS)
    assert (FORMAT, VERSION, hashlib.sha256(names.encode()).hexdigest()[:8]) == (6, 5, "5ce80008"), (
        "the metrics are others: raise FORMAT of check/baseline.py and VERSION of sweep/write_table.py, then write the "
        "three values here"
    )


# Fields of LaunchTiming that `--sample-blocks` does not multiply by the blocks that were left out: they are worked out
# otherwise, or hold for any number of blocks.
NOT_SCALED = {
    *("start_cycle", "end_cycle", "cycles", "issue_slots", "resident_warp_cycles", "warps_launched"),
    *("blocks_launched", "blocks_per_sm", "occupancy_limiter", "sm_active_cycles", "active_cycles_of_sm"),
    *("samples_due", "samples_kept", "samples_dropped", "buffer_full", "losses", "disturbance_cycles"),
    *(
        "ledger",
        "activity",
        "stalls",
        "causes",
        "sampling_period_cycles",
        "extrapolation",
        "draw",
        "repetitions",
        "atomic_lines",
    ),
}


def test_every_number_of_a_launch_is_scaled_or_known_not_to_be():
    assert {field.name for field in fields(LaunchTiming)} == NOT_SCALED | set(NUMBERS.names(WORK)), (
        "a number that grows with the blocks has the role WORK in tables/launch.py, another is in NOT_SCALED here"
    )
