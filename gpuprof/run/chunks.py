"""A session's work as the chunks of its recording (`records.schema`)."""

from collections.abc import Sequence

import numpy as np

from gpuprof.base.wording import installed_version
from gpuprof.chips import Chip
from gpuprof.chips.fidelity.sentence import sentence
from gpuprof.device import commands as cmd
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES, LaunchCounters
from gpuprof.emulate.trace_log.patterns import lattice
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.records.command_stream.codec import VERSION as STREAM_VERSION, Header
from gpuprof.records.schema import (
    ACTIVITY_DTYPE,
    ACTIVITY_OF_SMS_DTYPE,
    ACTIVITY_STALLS_DTYPE,
    BANK_PATTERNS_DTYPE,
    BLOCK_COUNTERS_DTYPE,
    COUNTERS_DTYPE,
    SAMPLED_COUNTERS_DTYPE,
    WARP_COUNTERS_DTYPE,
)
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
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


CHUNK_OF_ROWS = {SAMPLED_COUNTERS_DTYPE: b"SMCN", BLOCK_COUNTERS_DTYPE: b"BLKC", WARP_COUNTERS_DTYPE: b"WRPC"}


def record_samples(recorder: RecordWriter, samples: np.ndarray) -> None:
    """Samples, or rows of counters, of any launches, as the timing gives them."""
    for launch, rows in by_launch(samples):
        if type_ := CHUNK_OF_ROWS.get(rows.dtype):
            recorder.exact_rows(type_, launch, rows)
        else:
            recorder.samples(launch, rows)


def record_end(
    recorder: RecordWriter, launch: cmd.Launch, timing: LaunchTiming, counters: LaunchCounters, most_bins: int
) -> None:
    """Writes the exact rows of a launch, its activity in `most_bins` bins of time at most, and its end."""
    base = launch.module.load_base
    recorder.ledger(launch.index, timing.ledger, base)
    recorder.stalls(launch.index, timing.stalls, base)
    recorder.exact_rows(b"CAUS", launch.index, timing.causes)
    recorder.counters(launch.index, counter_rows(counters, base))
    recorder.exact_rows(b"BANK", launch.index, pattern_rows(counters, base))
    recorder.exact_rows(b"SMDR", launch.index, timing.losses)
    bins, stalls = activity_rows(coarser(timing.activity, most_bins), timing.start_cycle)
    recorder.exact_rows(b"ACTV", launch.index, bins)
    recorder.exact_rows(b"ACTR", launch.index, stalls)
    recorder.exact_rows(b"ACSM", launch.index, sm_rows(timing))
    recorder.launch_end(launch.index, timing)


def activity_rows(activity: Activity, start_cycle: int) -> tuple[np.ndarray, np.ndarray]:
    """Activity as rows of records.schema.ACTIVITY_DTYPE and ACTIVITY_STALLS_DTYPE."""
    bin_cycles, cycles = activity
    bins = np.zeros(len(cycles), ACTIVITY_DTYPE)
    bins["cycle"], bins["bin_cycles"] = start_cycle + bin_cycles * np.arange(len(cycles)), bin_cycles
    bins["sm_active_cycles"] = cycles[:, SM_HAS_WARPS]
    bin_, reason = np.nonzero(cycles[:, :SM_HAS_WARPS])
    stalls = np.zeros(len(bin_), ACTIVITY_STALLS_DTYPE)
    stalls["bin"], stalls["reason"], stalls["cycles"] = bin_, reason, cycles[bin_, reason]
    return bins, stalls


def sm_rows(timing: LaunchTiming) -> np.ndarray:
    """Cycles on each SM as rows of records.schema.ACTIVITY_OF_SMS_DTYPE."""
    sm = np.flatnonzero(timing.active_cycles_of_sm)
    rows = np.zeros(len(sm), ACTIVITY_OF_SMS_DTYPE)
    rows["sm"], rows["active_cycles"] = sm, timing.active_cycles_of_sm[sm]
    return rows


def counter_rows(counters: LaunchCounters, load_base: int) -> np.ndarray:
    """Counters as rows of records.schema.COUNTERS_DTYPE, one per instruction."""
    rows = np.zeros(len(counters.inst_executed), COUNTERS_DTYPE)
    rows["pc"] = load_base + INSTRUCTION_NBYTES * np.arange(len(rows))
    for name in COUNTER_NAMES:
        rows[name] = getattr(counters, name)
    return rows


def pattern_rows(counters: LaunchCounters, load_base: int) -> np.ndarray:
    """Patterns of shared memory as rows of records.schema.BANK_PATTERNS_DTYPE."""
    found = []
    for at, patterns in sorted(counters.patterns.items()):
        pc, others = load_base + INSTRUCTION_NBYTES * at, int(patterns.warps[-1])
        for row in range(int(patterns.used[0])):
            mask, warps = int(patterns.masks[row]), int(patterns.warps[row])
            regular = lattice(patterns.places[row], mask)
            if regular is None:
                others += warps
                continue
            ends = (int(patterns.first[row]), int(patterns.end[row]))
            found.append((pc, mask, warps, *regular.strides, *regular.lanes, *ends))
        if others:
            found.append((pc, 0, others, *[0] * 8))
    return np.array(found, BANK_PATTERNS_DTYPE)
