"""A session's work as the chunks of its recording (`records.schema`)."""

from collections.abc import Iterator, Sequence

import numpy as np

from gpuprof.base.wording import installed_version
from gpuprof.chips import Chip
from gpuprof.chips.fidelity.sentence import sentence
from gpuprof.device import commands as cmd
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.patterns import lattice
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.records.command_stream.codec import VERSION as STREAM_VERSION, Header
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.tables.blocks import BLOCK_COUNTERS, WARP_COUNTERS
from gpuprof.tables.launch import (
    ACTIVITY,
    ACTIVITY_OF_SMS,
    ACTIVITY_STALLS,
    BANK_PATTERNS,
    CAUSES,
    COUNTERS,
    LEDGER,
    LOSSES,
    STALL_LENGTHS,
    STALLS,
)
from gpuprof.tables.samples import SAMPLED_COUNTERS
from gpuprof.tables.table import SUM, Table
from gpuprof.timing.buffer import by_launch
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.control_registers import described
from gpuprof.timing.state.activity_bins import SM_HAS_WARPS, Activity, coarser
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.model_version import MODEL_VERSION


def record_preamble(settings: Settings, chip: Chip) -> None:
    """Writes the beginning of a recording: the tool that made it, and the chip."""
    settings.recorder.meta(
        {
            "tool": "gpuprof",
            "tool_version": installed_version(),
            "model_version": MODEL_VERSION,
            "fidelity": sentence(chip, MODEL_VERSION),
            "command": settings.command,
            "chip": chip.name,
            "sampling": sampling_fields(settings.sampling, settings),
        }
    )
    settings.recorder.chip(chip.describe())


def sampling_fields(sampling: Sampling, settings: Settings) -> dict[str, int | str]:
    """The registers in force, as META tells them for the whole run and LNCH for a launch."""
    return described(sampling, settings.sampling) | {"record": settings.record}


def stream_header(settings: Settings, alignment: int) -> Header:
    """The header of a saved stream: the settings of its run, and the alignment of allocations in bytes."""
    return Header(
        STREAM_VERSION,
        settings.sampling,
        settings.record,
        settings.sample_blocks,
        settings.max_cycles,
        alignment,
        settings.max_instructions,
    )


def record_module(recorder: RecordWriter, number: int, module: LoadedModule, image: bytes) -> None:
    program = module.program
    for path, text in sorted(program.sources.items()):
        recorder.source(path, text)
    recorder.module(
        number,
        name=program.name,
        load_base=module.load_base,
        code_nbytes=module.end - module.load_base,
        compiler=program.compiler,
        arch=program.arch,
        image=image,
    )


def launch_fields(
    launch: cmd.Launch, module: int, task: str, parent: int | None, priority: int, traces: Sequence[str]
) -> dict:
    """`parent`: index of the launch whose kernel launched it; `priority`: of its stream; `traces`: names of the trace
    generators that watch it.
    """
    function = launch.function
    unusual = ({} if parent is None else {"parent": parent}) | ({"priority": priority} if priority else {})
    unusual |= {"dependent": True} if launch.dependent else {}
    unusual |= {"traces": ",".join(traces)} if traces else {}
    return unusual | {
        "launch": launch.index,
        "module": module,
        "kernel": function.display,
        "symbol": function.name,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "dynamic_shared_nbytes": launch.dynamic_shared_nbytes,
        "stream": launch.stream,
        "registers": function.registers,
        "shared_nbytes": function.shared_nbytes,
        "local_nbytes": function.local_nbytes,
        "text": launch.name,
        "task": task,
    }


TABLE_OF_ROWS = {table.dtype: table for table in (SAMPLED_COUNTERS, BLOCK_COUNTERS, WARP_COUNTERS)}


def record_samples(recorder: RecordWriter, samples: np.ndarray) -> None:
    """Samples, or rows of counters, of any launches, as the timing gives them."""
    for launch, rows in by_launch(samples):
        if table := TABLE_OF_ROWS.get(rows.dtype):
            recorder.rows(table, launch, rows)
        else:
            recorder.samples(launch, rows)


def record_end(
    recorder: RecordWriter, launch: cmd.Launch, timing: LaunchTiming, counters: LaunchCounters, most_bins: int
) -> None:
    """Writes the exact rows of a launch, its activity in `most_bins` bins of time at most, and its end."""
    for table, rows in exact_rows(timing, counters, launch.module.load_base, most_bins):
        recorder.rows(table, launch.index, rows)
    recorder.launch_end(launch.index, timing)


def exact_rows(
    timing: LaunchTiming, counters: LaunchCounters, load_base: int, most_bins: int
) -> Iterator[tuple[Table, np.ndarray]]:
    """The exact rows of a launch by table, in the order of a recording. Code begins at `load_base`."""
    yield LEDGER, ledger_rows(timing.ledger, load_base)
    yield from stall_rows(timing.stalls, load_base).items()
    yield CAUSES, timing.causes
    yield COUNTERS, counter_rows(counters, load_base)
    yield BANK_PATTERNS, pattern_rows(counters, load_base)
    yield LOSSES, timing.losses
    yield from activity_rows(coarser(timing.activity, most_bins), timing.start_cycle).items()
    yield ACTIVITY_OF_SMS, sm_rows(timing)


def ledger_rows(cycles: np.ndarray, load_base: int) -> np.ndarray:
    """The stall ledger, uint64 [n_instructions, N_REASONS], as rows of LEDGER."""
    instruction, reason = np.nonzero(cycles)
    rows = np.zeros(len(instruction), LEDGER.dtype)
    rows["pc"] = load_base + INSTRUCTION_NBYTES * instruction
    rows["reason"], rows["cycles"] = reason, cycles[instruction, reason]
    return rows


def stall_rows(stalls: np.ndarray, load_base: int) -> dict[Table, np.ndarray]:
    """Stalls by length, timing.state.stall_tables.STALLS_DTYPE, as rows of STALLS and STALL_LENGTHS."""
    pc = load_base + INSTRUCTION_NBYTES * stalls["instruction"]
    counts = np.zeros(len(stalls), STALLS.dtype)
    counts["pc"], counts["reason"], counts["longest_cycles"] = pc, stalls["reason"], stalls["longest_cycles"]
    counts["stalls"] = stalls["bins"].sum(axis=1)
    row, bin_ = np.nonzero(stalls["bins"])
    lengths = np.zeros(len(row), STALL_LENGTHS.dtype)
    lengths["pc"], lengths["reason"] = pc[row], stalls["reason"][row]
    lengths["bin"], lengths["stalls"] = bin_, stalls["bins"][row, bin_]
    return {STALLS: counts, STALL_LENGTHS: lengths}


def activity_rows(activity: Activity, start_cycle: int) -> dict[Table, np.ndarray]:
    """Activity as rows of ACTIVITY and ACTIVITY_STALLS.dtype."""
    bin_cycles, cycles = activity
    bins = np.zeros(len(cycles), ACTIVITY.dtype)
    bins["cycle"], bins["bin_cycles"] = start_cycle + bin_cycles * np.arange(len(cycles)), bin_cycles
    bins["sm_active_cycles"] = cycles[:, SM_HAS_WARPS]
    bin_, reason = np.nonzero(cycles[:, :SM_HAS_WARPS])
    stalls = np.zeros(len(bin_), ACTIVITY_STALLS.dtype)
    stalls["bin"], stalls["reason"], stalls["cycles"] = bin_, reason, cycles[bin_, reason]
    return {ACTIVITY: bins, ACTIVITY_STALLS: stalls}


def sm_rows(timing: LaunchTiming) -> np.ndarray:
    """Cycles on each SM as rows of ACTIVITY_OF_SMS."""
    sm = np.flatnonzero(timing.active_cycles_of_sm)
    rows = np.zeros(len(sm), ACTIVITY_OF_SMS.dtype)
    rows["sm"], rows["active_cycles"] = sm, timing.active_cycles_of_sm[sm]
    return rows


def counter_rows(counters: LaunchCounters, load_base: int) -> np.ndarray:
    """Counters as rows of COUNTERS: one per instruction that has counted something."""
    rows = np.zeros(len(counters.inst_executed), COUNTERS.dtype)
    rows["pc"] = load_base + INSTRUCTION_NBYTES * np.arange(len(rows))
    for name in COUNTERS.names(SUM):
        rows[name] = getattr(counters, name)
    return rows[COUNTERS.has_amounts(rows)]


def pattern_rows(counters: LaunchCounters, load_base: int) -> np.ndarray:
    """Patterns of shared memory as rows of BANK_PATTERNS."""
    rows = []
    for at, patterns in sorted(counters.patterns.items()):
        pc, others = load_base + INSTRUCTION_NBYTES * at, int(patterns.warps[-1])
        for row in range(int(patterns.used[0])):
            mask, warps = int(patterns.masks[row]), int(patterns.warps[row])
            regular = lattice(patterns.places[row], mask)
            if regular is None:
                others += warps
                continue
            ends = (int(patterns.first[row]), int(patterns.end[row]))
            rows.append((pc, mask, warps, *regular.strides, *regular.lanes, *ends))
        if others:
            rows.append((pc, 0, others, *[0] * 8))
    return np.array(rows, BANK_PATTERNS.dtype)
