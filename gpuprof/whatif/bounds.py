"""The most that an intervention could save by the ledger, as a part of the launch's cycles, and where it applies.

A bound says how much of the warps' time is charged to what the intervention takes away. It is no limit of what is
measured: less traffic lets other accesses through sooner, too.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpuprof.timing.state.layout import PORT_FP64, PORT_INDEX
from gpuprof.timing.state.occupancy import occupancy
from gpuprof.timing.state.static_program import BARRIER, CONSTANT, FENCE, MBARRIER_WAIT, MEMBAR, PLAIN, SLOW_PATH
from gpuprof.whatif.baseline import SELECTED, Baseline
from gpuprof.whatif.changes import on_accesses, on_program, on_steps

BEYOND_L1 = ("pending", "l2", "l2_far", "dram")
THROTTLES = ("math_pipe_throttle", "tex_throttle")
RESULTS = ("result", "unit", "shared", "constant", "l1", "atomic", *BEYOND_L1)

Mask = Callable[[np.ndarray], np.ndarray]
Warpcycles = Callable[[Baseline, np.ndarray], float]


class AtLines(NamedTuple):
    """A kind of interventions on lines: the instructions of a program (layout.INSTRUCTION) that it is about, and the
    warp-cycles that some of them cost.
    """

    applies: Mask
    costs: Warpcycles


def _barriers(inst: np.ndarray) -> np.ndarray:
    return np.isin(inst["kind"], (BARRIER, MBARRIER_WAIT))


def _fences(inst: np.ndarray) -> np.ndarray:
    return np.isin(inst["kind"], (MEMBAR, FENCE))


def _of_several_slots(inst: np.ndarray) -> np.ndarray:
    return (inst["slots"] > 1) & (inst["kind"] == PLAIN) | (inst["kind"] == SLOW_PATH)


def _removable(inst: np.ndarray) -> np.ndarray:
    return np.isin(inst["kind"], on_program.REMOVABLE)


def _read(inst: np.ndarray) -> np.ndarray:
    return on_accesses.global_loads(inst) | (inst["kind"] == on_program.BULK)


def _of_packed(baseline: Baseline, chosen: np.ndarray) -> float:
    """The stalls that the accesses ended, by the part of their sectors that packed ones would not have."""
    taken, ideal = (int(sums[chosen].sum()) for sums in baseline.sectors)
    return baseline.waited(chosen) * (1 - ideal / taken) if taken else 0.0


def _waits_at(baseline: Baseline, chosen: np.ndarray) -> float:
    return float(baseline.charged[chosen].sum() - baseline.charged[chosen][:, SELECTED].sum())


def _of_free(baseline: Baseline, chosen: np.ndarray) -> float:
    return baseline.waited(chosen) + float(baseline.charged[chosen][:, SELECTED].sum())


def _of_slots(baseline: Baseline, chosen: np.ndarray) -> float:
    """Their issues, but for one each, and the stalls that they ended."""
    slots = np.maximum(1, baseline.inst["slots"][chosen])
    issued = baseline.charged[chosen][:, SELECTED]
    return baseline.waited(chosen) + float((issued * (1 - 1 / slots)).sum())


def _of_f64(baseline: Baseline, chosen: np.ndarray) -> float:
    """The stalls that they ended, and those for their pipe."""
    return baseline.waited(chosen) + baseline.stalled(chosen, THROTTLES)


def _of_one_side(baseline: Baseline, chosen: np.ndarray) -> float:
    """The ledger of the blocks whose steps would go, by the part of their steps that would."""
    program, subject = baseline.program, baseline.subject
    n_blocks = len(program.block) - 1
    all_steps, dropped = np.zeros(n_blocks), np.zeros(n_blocks)
    for piece in subject.trace:
        marked = on_steps.shorter_sides(program, piece, chosen)
        all_steps += np.bincount(piece.steps["block"], minlength=n_blocks)
        dropped += np.bincount(piece.steps["block"][marked], minlength=n_blocks)
    cycles = np.add.reduceat(baseline.charged.sum(axis=1), program.block[:-1])
    return float((cycles * dropped / np.maximum(all_steps, 1)).sum())


AT_LINES = {
    "packed": AtLines(on_accesses.global_accesses, _of_packed),
    "no_conflicts": AtLines(on_accesses.shared_accesses, lambda b, chosen: b.waited(chosen, only_conflicts=True)),
    "own_addresses": AtLines(on_accesses.atomics, lambda b, chosen: b.waited(chosen)),
    "open_barrier": AtLines(_barriers, _waits_at),
    "no_fence": AtLines(_fences, _waits_at),
    "one_constant": AtLines(lambda inst: inst["kind"] == CONSTANT, lambda b, chosen: b.waited(chosen)),
    "one_slot": AtLines(_of_several_slots, _of_slots),
    "f32": AtLines(lambda inst: inst["port"] == PORT_FP64, _of_f64),
    "one_side": AtLines(lambda inst: np.ones(len(inst), np.bool_), _of_one_side),
    "l1_hits": AtLines(on_accesses.global_loads, lambda b, chosen: b.waited(chosen, BEYOND_L1)),
    "from_shared": AtLines(on_accesses.global_loads, lambda b, chosen: b.waited(chosen, ("l1", *BEYOND_L1))),
    "l2_hits": AtLines(_read, lambda b, chosen: b.waited(chosen, ("pending", "dram"))),
    "sooner": AtLines(lambda inst: inst["n_writes"] > 0, lambda b, chosen: b.waited(chosen, RESULTS)),
    "free": AtLines(_removable, _of_free),
}


def _everywhere(baseline: Baseline) -> np.ndarray:
    return np.ones(len(baseline.inst), np.bool_)


def _of_spills(baseline: Baseline) -> float:
    return _of_free(baseline, baseline.inst["is_local"] != 0)


def _of_occupancy(resource: str) -> Callable[[Baseline], float]:
    """The stalls, by the part of the blocks that an SM would have more."""

    def bound(baseline: Baseline) -> float:
        launch = baseline.subject.launch
        threads = int(np.prod(launch.block))
        fit = occupancy(baseline.subject.machine.chip, launch.function, threads, launch.dynamic_shared_nbytes)
        others = min(limit for name, limit in fit.limits.items() if name != resource)
        if baseline.timing.blocks_launched <= fit.blocks_per_sm * baseline.subject.machine.chip.sms:
            return 0.0
        return baseline.waiting * (1 - fit.blocks_per_sm / others) if others > fit.blocks_per_sm else 0.0

    return bound


def _of_ports(ports: tuple[str, ...], *reasons: str) -> Callable[[Baseline], float]:
    def bound(baseline: Baseline) -> float:
        of_ports = np.isin(baseline.inst["port"], [PORT_INDEX[name] for name in ports])
        return baseline.stalled(of_ports, reasons) / 2

    return bound


def _of_issue(baseline: Baseline) -> float:
    """None where a scheduler issues two a cycle as it is: no scheduler issues more."""
    if baseline.subject.machine.chip.dispatch_units > 1:
        return 0.0
    return baseline.stalled(_everywhere(baseline), ("not_selected",)) / 2


def _of_causes(*kinds: str, part: float = 0.5) -> Callable[[Baseline], float]:
    return lambda baseline: part * baseline.waited(_everywhere(baseline), kinds)


# By kind, or "twice" and the unit: warp-cycles of the whole launch.
OF_LAUNCH = {
    "perfect_l1": _of_causes(*BEYOND_L1, part=1),
    "perfect_l2": _of_causes("pending", "dram", part=1),
    "endless_dram": _of_causes("pending", "dram"),
    "no_spills": _of_spills,
    "more_registers": _of_occupancy("registers"),
    "more_shared": _of_occupancy("shared"),
    "more_blocks": _of_occupancy("blocks"),
    "twice alu": _of_ports(("alu",), *THROTTLES),
    "twice fma": _of_ports(("fma",), *THROTTLES),
    "twice fp64": _of_ports(("fp64",), *THROTTLES),
    "twice half": _of_ports(("half",), *THROTTLES),
    "twice xu": _of_ports(("xu",), "mio_throttle", *THROTTLES),
    "twice tensor": _of_ports(("tensor",), *THROTTLES),
    "twice lsu": _of_ports(("lsu",), "lg_throttle", "mio_throttle", "short_scoreboard"),
    "twice l2": _of_causes("l2", "l2_far", "store"),
    "twice dram": _of_causes("dram", "store"),
    "twice atomic": _of_causes("atomic"),
    "twice issue": _of_issue,
}


def overhead_share(baseline: Baseline) -> float:
    """The part of the launch's cycles that is its own overhead."""
    return baseline.subject.machine.chip.grid_overhead_cycles / max(1, baseline.timing.cycles)


def idle_share(baseline: Baseline) -> float:
    """The part of its cycles in which SMs have none of the launch's warps, if blocks could fill them."""
    timing = baseline.timing
    active = timing.active_cycles_of_sm[timing.active_cycles_of_sm > 0].astype(np.int64)
    if timing.blocks_launched <= len(active):
        return 0.0
    return 1 - float(active.mean()) / max(1, timing.end_cycle - timing.start_cycle)
