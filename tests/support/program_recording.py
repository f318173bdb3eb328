"""A recording of a program with copies, a fill, a graph and a function of the host, each with its time."""

from pathlib import Path

import numpy as np

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.records.writer import RecordWriter
from gpuprof.relate import task_kinds as kinds
from gpuprof.relate.task_kinds import IS_NODE, IS_PINNED, NONE
from gpuprof.run.observers.launch_rows import ledger_rows
from gpuprof.tables import engines
from gpuprof.tables.launch import LEDGER
from gpuprof.tables.tasks import CALLS, CONSTRAINTS, OPERATIONS, TASKS
from tests.support.recordings import CHIP, META, launch_fields, ledger, saxpy_program, timing

# Of 1 GHz: a cycle is a nanosecond.
CHIP_OF_PROGRAM = CHIP | {"clock_mhz": 1000}
HOST_ROW, DEFAULT_ROW, STREAM_ROW = "host", "default stream", "stream 1"
# number, parent, kind, name, row, launch
PROGRAM_TASKS = (
    (0, NONE, kinds.CALL, "cudaMalloc", HOST_ROW, NONE),
    (1, NONE, kinds.CALL, "cudaMemcpyAsync", HOST_ROW, NONE),
    (2, 1, kinds.COPY_IN, "copy to device x", STREAM_ROW, NONE),
    (3, NONE, kinds.CALL, "cudaMemset", HOST_ROW, NONE),
    (4, 3, kinds.FILL, "fill y", DEFAULT_ROW, NONE),
    (5, NONE, kinds.CALL, "cudaLaunchKernel", HOST_ROW, NONE),
    (6, 5, kinds.LAUNCH, "saxpy", STREAM_ROW, 0),
    (7, NONE, kinds.CALL, "cudaGraphLaunch", HOST_ROW, NONE),
    (8, 7, kinds.LAUNCH, "saxpy", DEFAULT_ROW, 1),
    (9, 7, kinds.COPY_WITHIN, "copy within device y", DEFAULT_ROW, NONE),
    (10, 7, kinds.LAUNCH, "saxpy", DEFAULT_ROW, 2),
    (11, NONE, kinds.CALL, "cudaLaunchHostFunc", HOST_ROW, NONE),
    (12, 11, kinds.HOST_FUNCTION, "host function", DEFAULT_ROW, NONE),
    (13, NONE, kinds.CALL, "cudaMemcpy", HOST_ROW, NONE),
    (14, 13, kinds.COPY_OUT, "copy to host y", DEFAULT_ROW, NONE),
    (15, NONE, kinds.CALL, "cudaFree", HOST_ROW, NONE),
)
# task, line, begin and end in ns, waited ns, bytes
PROGRAM_CALLS = (
    (0, 7, 0, 5_000, 0, 0),
    (1, 8, 5_000, 6_000, 0, 100_000),
    (3, 9, 6_000, 7_000, 0, 4_096),
    (5, 11, 7_000, 9_500, 0, 0),
    (7, 12, 9_500, 12_000, 0, 0),
    (11, 13, 12_000, 12_400, 0, 0),
    (13, 14, 12_400, 36_000, 22_000, 50_000),
    (15, 15, 50_000, 52_000, 0, 0),
)
# task, engine, flags, stream, start, end, bytes
PROGRAM_OPERATIONS = (
    (2, engines.ENGINE_IN, IS_PINNED, 1, 6_000, 10_000, 100_000),
    (4, engines.ENGINE_MEMORY, 0, 0, 10_000, 10_500, 4_096),
    (9, engines.ENGINE_MEMORY, IS_NODE, 0, 24_500, 25_000, 400_000),
    (12, engines.ENGINE_HOST, 0, 0, 26_600, 30_000, 0),
    (14, engines.ENGINE_OUT, 0, 0, 30_100, 34_000, 50_000),
)
PROGRAM_LAUNCHES = ((1, 10_200, 20_200), (0, 22_000, 24_000), (0, 25_500, 26_500))  # stream, start, end
PROGRAM_CONSTRAINTS = ((kinds.STREAM, 2, 6), (kinds.EVENT, 6, 8), (kinds.STREAM, 8, 9), (kinds.STREAM, 9, 10))


def write_program(path: Path, is_timed: bool = True, host: str | None = "pcie4", n_blocks: int = 2) -> Path:
    """is_timed: with the rows of its operations; host: the name of its table, None for a recording that has none."""
    with RecordWriter(path) as writer:
        sampling = META["sampling"] | {"period_cycles": 0}
        writer.meta(META | {"sampling": sampling} | ({} if host is None else {"host": host}))
        writer.chip(CHIP_OF_PROGRAM)
        image = write_gpubin(saxpy_program())
        fields = {"load_base": 0x1000, "code_nbytes": 48, "compiler": "clang 22", "arch": "sm_80"}
        writer.module(0, name="saxpy.cu", image=image, **fields)
        for launch, (stream, start, end) in enumerate(PROGRAM_LAUNCHES):
            writer.launch_begin(launch_fields(launch=launch, stream=stream, grid=[n_blocks, 1, 1]))
            writer.rows(LEDGER, launch, ledger_rows(ledger(), 0x1000))
            times = {"start_cycle": start, "end_cycle": end, "cycles": end - start}
            writer.launch_end(launch, timing(samples_due=0, samples_kept=0, **times))
        names = [*dict.fromkeys(text for row in PROGRAM_TASKS for text in row[3:5]), "app.cu"]
        for number, text in enumerate(names):
            writer.task_name(number, text)
        rows = [
            (task, parent, kind, 0, names.index(name), names.index(row), launch, 0, task, task, 0, task)
            for task, parent, kind, name, row, launch in PROGRAM_TASKS
        ]
        calls = [(task, names.index("app.cu"), line, 0, 0, 0, *times) for task, line, *times in PROGRAM_CALLS]
        operations = PROGRAM_OPERATIONS if is_timed else ()
        tables = {TASKS: rows, CONSTRAINTS: PROGRAM_CONSTRAINTS, CALLS: calls, OPERATIONS: operations}
        for table, each in tables.items():
            writer.table(table, np.array(list(each), table.dtype))
    return path
