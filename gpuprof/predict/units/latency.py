"""What a warp waits for whatever else runs: the latencies between its instructions, as on an idle chip.

The reference chip's stalls say how often and for which instruction each wait was; the part that other warps caused is
left out. On another chip a stall is longer or shorter by as much as its event's latency is, and ends at nothing: the
instructions between a load and its use hide as many cycles as before.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuprof.isa.causes import INDEX as KIND
from gpuprof.isa.stalls import INDEX as REASON
from gpuprof.predict.counters import Waits
from gpuprof.predict.facts import PIPES
from gpuprof.predict.work import Work

# Cycles in which another warp, or the warp's own access before, holds a unit: the units' models have them.
BUSY = tuple(
    REASON[name]
    for name in (
        "not_selected", "math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle", "dispatch_stall",
    )
)  # fmt: skip
# Latencies by chip number. A recorded stall that is longer has waited in a queue.
BY_NUMBER = {
    "l1": "latency.memory", "l2": "l2_near_cycles", "l2_far": "l2_far_cycles", "dram": "dram_cycles",
    "pending": "dram_cycles",
}  # fmt: skip
BY_INSTRUCTION = ("unit", "shared", "constant", "queued")
# First uses: once an SM, however many waves of blocks follow.
COLD = {"constant_miss": "constant_cold_cycles", "l0_miss": "l0i_miss_cycles", "l1i_miss": "l1i_miss_cycles"}


@dataclass(frozen=True)
class Latency:
    """float64 (chips,). `cycles` of a warp; `rounds`: how many waits of equal length they are; `cold_cycles`: of the
    first warps alone.
    """

    cycles: np.ndarray
    rounds: np.ndarray
    cold_cycles: np.ndarray


def latency(work: Work) -> Latency:
    waits = work.counters.waits
    unloaded = np.zeros((len(waits.cycles), len(work.chips)))
    for name, of_kind in MODELS.items():
        _fill(unloaded, work, waits, waits.kind == KIND[name], of_kind)
    unloaded[np.isin(waits.reason, BUSY)] = 0
    _share_barriers(unloaded, work, waits)
    cold = np.isin(waits.kind, [KIND[name] for name in COLD])
    steady, warps = unloaded[~cold], work.counters.warps
    cycles = steady.sum(0) / warps
    squares = (steady**2 / np.maximum(waits.count[~cold], 1)[:, None]).sum(0) / warps
    rounds = np.maximum(1, cycles**2 / np.maximum(squares, 1e-9))
    return Latency(cycles, rounds, unloaded[cold].sum(0))


def _fill(unloaded: np.ndarray, work: Work, waits: Waits, of: np.ndarray, of_kind: Callable) -> None:
    if of.any():
        unloaded[of] = of_kind(work, waits, of)


def _cause_op(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    """Places of the causes' rows in LaunchCounters.ops; of an instruction of another launch the first."""
    cause = waits.cause[of]
    return np.where(cause >= 0, work.counters.executed.op[cause], 0)


def moved(waits: Waits, of: np.ndarray, cycles: np.ndarray, at_least: bool) -> np.ndarray:
    """Stalls whose events take `cycles`, (stalls or 1, chips), the reference chip first. `at_least`: the recorded ones
    may have waited for other warps as well.
    """
    recorded, count = waits.cycles[of, None], waits.count[of, None]
    alone = np.minimum(recorded, count * cycles[:, :1]) if at_least else recorded
    return np.maximum(0, alone + count * (cycles - cycles[:, :1]))


def _by_number(name: str, at_least: bool = True) -> Callable:
    return lambda work, waits, of: moved(waits, of, work.chips[name][None], at_least)


def _by_instruction(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, work.facts.latency[_cause_op(work, waits, of)], True)


def _result(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, work.facts.latency[_cause_op(work, waits, of)], False)


def _slot(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, work.facts.chain[_cause_op(work, waits, of)], False)


def _atomic(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, np.maximum(work.chips["latency.atomic"], work.chips["l2_near_cycles"])[None], True)


def _own_pipe(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    """A warp waits for the pipe that its last instruction keeps."""
    keeps = sum(work.facts.busy[pipe] for pipe in PIPES)[_cause_op(work, waits, of)]
    before = np.maximum(keeps[:, :1] - 1, 0.5)
    return waits.cycles[of, None] * np.maximum(keeps - 1, 0) / before


def _store(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    """Behind its last instruction a warp stays until its stores have left, at a fence until they have arrived."""
    leaves = (waits.reason[of] == REASON["drain"])[:, None]
    cycles = np.where(leaves, work.chips["store_drain_cycles"], work.chips["l2_store_cycles"])
    return moved(waits, of, cycles, True)


def _self(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    reasons = waits.reason[of][:, None]
    cycles = np.where(reasons == REASON["barrier"], work.chips["barrier_cycles"], 0)
    cycles = np.where(reasons == REASON["membar"], work.chips["membar_cycles"], cycles)
    cycles = np.where(reasons == REASON["wait"], work.chips["control_cycles"], cycles)
    cycles = np.where(reasons == REASON["branch_resolving"], work.chips["exit_cycles"], cycles)
    return moved(waits, of, cycles, False)


def _as_recorded(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return np.repeat(waits.cycles[of, None], len(work.chips), 1)


def _nothing(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return np.zeros((np.count_nonzero(of), len(work.chips)))


MODELS: dict[str, Callable] = {
    **{name: _by_number(number) for name, number in BY_NUMBER.items()},
    **{name: _by_number(number, at_least=False) for name, number in COLD.items()},
    **dict.fromkeys(BY_INSTRUCTION, _by_instruction),
    "branch": _by_number("branch_cycles", at_least=False),
    "result": _result,
    "slot": _slot,
    "atomic": _atomic,
    "pipe": _own_pipe,
    "store": _store,
    "self": _self,
    "barrier": _nothing,  # see _share_barriers
    **dict.fromkeys(("queue", "scheduler", "grid"), _nothing),
    **dict.fromkeys(("arrival", "copy", "product"), _as_recorded),
}
assert MODELS.keys() == KIND.keys(), MODELS.keys() ^ KIND.keys()


def _share_barriers(unloaded: np.ndarray, work: Work, waits: Waits) -> None:
    """At a barrier warps wait for the last one, and so for what that one waited for: the same share of it is there
    without other warps, and it grows as that does.
    """
    there = len(work.counters.executed.pc)
    at_barrier = waits.reason == REASON["barrier"]
    recorded, alone = np.zeros(there + 1), np.zeros((there + 1, len(work.chips)))
    np.add.at(recorded, waits.place[~at_barrier], waits.cycles[~at_barrier])
    np.add.at(alone, waits.place[~at_barrier], unloaded[~at_barrier])
    of = waits.kind == KIND["barrier"]
    share = alone[waits.cause[of]] / np.maximum(recorded[waits.cause[of]], 1)[:, None]
    unloaded[of] = waits.cycles[of, None] * share
