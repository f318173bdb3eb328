"""A recording of many launches of one kernel, for what grows with their number."""

from pathlib import Path

from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.launch_rows import ledger_rows
from gpuprof.tables.launch import COUNTERS, LEDGER
from tests.support.recordings import LAUNCH_END, counters, launch_fields, ledger, timing, write_saxpy_launch


def write_many_launches(path: Path, n_launches: int) -> Path:
    """One after the other; only the first has samples."""
    stalls, counts = ledger_rows(ledger(), 0x1000), counters()[COUNTERS.has_amounts(counters())]
    with RecordWriter(path) as writer:
        write_saxpy_launch(writer)
        for launch in range(1, n_launches):
            begin = launch * LAUNCH_END["end_cycle"]
            times = {name: begin + LAUNCH_END[name] for name in ("start_cycle", "end_cycle")}
            writer.launch_begin(launch_fields(launch))
            writer.rows(LEDGER, launch, stalls)
            writer.rows(COUNTERS, launch, counts)
            writer.launch_end(launch, timing(**times, samples_due=0, samples_kept=0))
    return path
