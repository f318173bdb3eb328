"""The exact numbers of a launch as rows of its recording."""

from collections.abc import Iterator

import numpy as np

from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.patterns import lattice
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.tables.launch import (
    ACTIVITY,
    ACTIVITY_OF_SMS,
    ACTIVITY_STALLS,
    ATOMIC_LINES,
    BANK_PATTERNS,
    CAUSES,
    COUNTERS,
    LEDGER,
    LOSSES,
    REPETITIONS,
    STALL_LENGTHS,
    STALLS,
)
from gpuprof.tables.table import SUM, Table
from gpuprof.timing.state.activity_bins import SM_HAS_WARPS, Activity, coarser
from gpuprof.timing.state.launch_timing import LaunchTiming


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
    yield REPETITIONS, repetition_rows(timing.repetitions)
    yield ATOMIC_LINES, timing.atomic_lines


def ledger_rows(cycles: np.ndarray, load_base: int) -> np.ndarray:
    """The stall ledger, uint64 [n_instructions, N_REASONS], as rows of LEDGER."""
    instruction, reason = cycles.nonzero()
    rows = np.zeros(len(instruction), LEDGER.dtype)
    rows["pc"] = load_base + INSTRUCTION_NBYTES * instruction
    rows["reason"], rows["cycles"] = reason, cycles[instruction, reason]
    return rows


def stall_rows(stalls: np.ndarray, load_base: int) -> dict[Table, np.ndarray]:
    """Stalls by length, timing.state.lengths.STALLS_DTYPE, as rows of STALLS and STALL_LENGTHS."""
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
    """Activity as rows of ACTIVITY and ACTIVITY_STALLS."""
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
    sm = timing.active_cycles_of_sm.nonzero()[0]
    rows = np.zeros(len(sm), ACTIVITY_OF_SMS.dtype)
    rows["sm"], rows["active_cycles"] = sm, timing.active_cycles_of_sm[sm]
    return rows


def repetition_rows(cycles: np.ndarray | None) -> np.ndarray:
    """Cycles of each timing as rows of REPETITIONS; none of a launch that is timed once."""
    rows = np.zeros(0 if cycles is None else len(cycles), REPETITIONS.dtype)
    rows["repetition"], rows["cycles"] = np.arange(1, len(rows) + 1), 0 if cycles is None else cycles
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
        for number in range(int(patterns.used[0])):
            mask, warps = int(patterns.masks[number]), int(patterns.warps[number])
            regular = lattice(patterns.places[number], mask)
            if regular is None:
                others += warps
                continue
            ends = (int(patterns.first[number]), int(patterns.end[number]))
            rows.append((pc, mask, warps, *regular.strides, *regular.lanes, *ends))
        if others:
            rows.append((pc, 0, others, *[0] * 8))
    return np.array(rows, BANK_PATTERNS.dtype)
