"""A launch's counters and activity as rows of its recording (`records.schema`)."""

import numpy as np

from gpuprof.emulate.trace_log.counters import COUNTER_NAMES, LaunchCounters
from gpuprof.emulate.trace_log.patterns import lattice
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.records.schema import (
    ACTIVITY_DTYPE,
    ACTIVITY_OF_SMS_DTYPE,
    ACTIVITY_STALLS_DTYPE,
    BANK_PATTERNS_DTYPE,
    COUNTERS_DTYPE,
)
from gpuprof.timing.state.activity_bins import SM_HAS_WARPS, Activity
from gpuprof.timing.state.launch_timing import LaunchTiming


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
    return np.array(rows, BANK_PATTERNS_DTYPE)
