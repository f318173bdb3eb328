"""A small synthetic recording, for the tests of records, correlate, check and report."""

import contextlib
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.base.compared_results import Result
from gpuprof.cli.main import main
from gpuprof.isa.encoding import encode, make
from gpuprof.isa.program import Function, Location, Program
from gpuprof.isa.stalls import INDEX, N_REASONS
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.launch_rows import ledger_rows
from gpuprof.tables.launch import COUNTERS, LEDGER
from gpuprof.tables.samples import ISSUED, SCHEDULER_ISSUED, SM_SHIFT, WIDE
from gpuprof.tables.table import Table

META = {
    "tool": "gpuprof",
    "tool_version": "0.1.0",
    "model_version": "1",
    "command": "gpuprof collect saxpy.cu",
    "chip": "a100",
    "sampling": {"period_cycles": 32, "mode": "random", "seed": 0, "record": "wide"},
}
CHIP = {"name": "a100", "sms": 108, "clock_mhz": 1410}


def stall_word(*reasons: str, sm: int = 0) -> int:
    return sum(1 << INDEX[reason] for reason in reasons) | sm << SM_SHIFT


def wide_samples(rows: list[tuple]) -> np.ndarray:
    """Rows of (pc, stall word, cycle, launch, block, mask, warp slot, flags, warp, resident warps)."""
    return np.array(rows, WIDE.dtype)


def launch_fields(launch: int = 0, **changes) -> dict:
    fields = {
        "launch": launch, "module": 0, "kernel": "saxpy", "symbol": "_Z5saxpyifPfS_", "grid": [2, 1, 1],
        "block": [64, 1, 1],
        "dynamic_shared_nbytes": 0, "stream": 0, "registers": 12, "shared_nbytes": 0, "local_nbytes": 0,
        "text": "saxpy<<<2, 64>>>(128)", "task": "",
    }  # fmt: skip
    return fields | changes


def timing(**changes) -> SimpleNamespace:
    """A stand-in for timing.LaunchTiming."""
    values = {
        "start_cycle": 100, "end_cycle": 300, "cycles": 200, "samples_due": 3, "samples_kept": 3, "samples_dropped": 0,
        "buffer_full": False, "dram_read_nbytes": np.int64(1024), "dram_write_nbytes": 512,
        "occupancy_limiter": "registers",
        "ledger": np.zeros((3, N_REASONS), np.uint64),
    }  # fmt: skip
    return SimpleNamespace(**(values | changes))


LAUNCH_END = {
    "launch": 0, "start_cycle": 100, "end_cycle": 300, "cycles": 200, "samples_due": 3, "samples_kept": 3,
    "samples_dropped": 0,
    "buffer_full": False, "counters": {"dram_read_nbytes": 1024, "dram_write_nbytes": 512,
        "occupancy_limiter": "registers"},
}  # fmt: skip


SAMPLES = wide_samples(
    [
        (0x1000, stall_word("selected", sm=1), 132, 0, 0, 0xFFFFFFFF, 5, ISSUED | SCHEDULER_ISSUED, 1, 4),
        (0x1010, stall_word("long_scoreboard", "drain", sm=1), 164, 0, 1, 0x0000FFFF, 6, 0, 0, 3),
        (0x1010, stall_word("wait", sm=2), 196, 0, 1, 0xFFFFFFFF, 7, SCHEDULER_ISSUED, 1, 1),
    ]
)


def ledger(n_instructions: int = 3) -> np.ndarray:
    cycles = np.zeros((n_instructions, N_REASONS), np.uint64)
    cycles[0, INDEX["selected"]] = 4
    cycles[1, INDEX["long_scoreboard"]] = 600
    cycles[2, INDEX["drain"]] = 60
    return cycles


def counters() -> np.ndarray:
    rows = np.zeros(3, COUNTERS.dtype)
    rows["pc"] = 0x1000 + 16 * np.arange(3)
    rows["inst_executed"] = [4, 4, 0]
    rows["l2_sectors_global"] = [0, 16, 0]
    return rows


SOURCE = """#include "blas.h"
__global__ void saxpy(int n, float a, float *x, float *y)
{
    axpy(a, x, y);
}
"""
HEADER_PATH = "blas.h"  # its text is not recorded
CALL = Location("saxpy.cu", 4, 5, "saxpy")


def saxpy_program() -> Program:
    """Three instructions: an addition in the kernel, a load in a function inlined at saxpy.cu:4, the exit."""
    code = encode([make("IADD", dst=1, a=2, b=3), make("LDG.32", dst=1, a=0, imm=16), make("EXIT")])
    return Program(
        name="saxpy.cu",
        code=code,
        functions=(Function("_Z5saxpyifPfS_", "saxpy", 0, 3, is_kernel=True, registers=12),),
        variables=(),
        relocations=(),
        ptx=".version 8.0\n",
        ptx_lines=np.array([10, 11, 0], np.uint32),
        locations=(CALL, Location(HEADER_PATH, 7, 12, "axpy", CALL), None),
        sources={"saxpy.cu": SOURCE},
        arch="sm_80",
        compiler="clang 22",
    )


def gpuprof(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command line `gpuprof ARGUMENTS` in a folder, without the cost of a
    process.
    """
    out, error = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["gpuprof", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        try:
            main()
        except SystemExit as exit:
            return exit.code, out.getvalue(), error.getvalue()
    raise AssertionError("main always exits")


RIGHT = Result(0, "x", "zeros", 64, 0, "1e-05", "0")
WRONG = Result(0, "y", "ref.npy", 64, 3, "1e-05", "0", "[5]", "1.5", "2.0", "0.5", "0.25")


def write_saxpy(
    path: Path,
    *,
    record: str = "wide",
    further: dict[Table, np.ndarray] | None = None,
    results: Iterable[Result] = (),
    **launch,
) -> Path:
    """One module at 0x1000 with three instructions, one source, one launch with three samples; complete.

    `further`: rows by table; `launch`: fields of LNCH.
    """
    with RecordWriter(path, record) as writer:
        write_saxpy_launch(writer, further, **launch)
        for result in results:
            writer.result(result)
    return path


def write_saxpy_launch(writer: RecordWriter, further: dict[Table, np.ndarray] | None = None, **launch) -> None:
    """All but the results; see `write_saxpy`."""
    writer.meta(META)
    writer.chip(CHIP)
    writer.module(
        0,
        name="saxpy.cu",
        load_base=0x1000,
        code_nbytes=48,
        image=write_gpubin(saxpy_program()),
        compiler="clang 22",
        arch="sm_80",
    )
    writer.source("saxpy.cu", SOURCE)
    writer.launch_begin(launch_fields(**launch))
    writer.samples(0, SAMPLES)
    writer.rows(LEDGER, 0, ledger_rows(ledger(), 0x1000))
    writer.rows(COUNTERS, 0, counters()[COUNTERS.has_amounts(counters())])
    for table, rows in (further or {}).items():
        writer.rows(table, 0, rows)
    writer.launch_end(0, timing())
