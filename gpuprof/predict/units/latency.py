"""The latencies between a warp's instructions, as on an otherwise idle chip.

The stalls of the reference chip give how often and for which instruction each wait was; the part that other warps
caused is excluded. On another chip a stall is longer or shorter by the difference of its event's latency, and never
negative: the instructions between a load and its use hide as many cycles as before.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuprof.isa.causes import INDEX as KIND
from gpuprof.isa.stalls import INDEX as REASON
from gpuprof.predict.launch_counters import Waits
from gpuprof.predict.opcode_facts import PIPES
from gpuprof.predict.units.caches import Traffic
from gpuprof.predict.work import Work

# Cycles in which another warp, or the warp's own previous access, occupies a unit: the units' models count them.
BUSY = tuple(
    REASON[name]
    for name in (
        "not_selected", "math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle", "dispatch_stall",
    )
)  # fmt: skip
BY_INSTRUCTION = ("unit", "constant", "queued")
# First uses: once an SM, however many waves of blocks follow.
COLD = {"constant_miss": "constant_cold_cycles", "l0_miss": "l0i_miss_cycles", "l1i_miss": "l1i_miss_cycles"}


@dataclass(frozen=True)
class Latency:
    """float64 (chips,). `cycles` of a warp; `rounds`: the equivalent number of waits of equal length. For `at_once` of
    the cycles all warps of a block wait for memory, and then meet at a barrier. `cold_cycles`: of the first warps only.
    """

    cycles: np.ndarray
    rounds: np.ndarray
    at_once: np.ndarray
    cold_cycles: np.ndarray


def latency(work: Work, traffic: Traffic) -> Latency:
    waits = work.counters.waits
    unloaded = np.zeros((len(waits.cycles), len(work.chips)))
    for name, cycles in levels(work, traffic).items():
        _fill(unloaded, work, waits, waits.kind == KIND[name], _load(cycles))
    for name, of_kind in MODELS.items():
        _fill(unloaded, work, waits, waits.kind == KIND[name], of_kind)
    unloaded[np.isin(waits.reason, BUSY)] = 0
    _share_barriers(unloaded, work, waits)
    cold = np.isin(waits.kind, [KIND[name] for name in COLD])
    memory = np.isin(waits.kind, [KIND[name] for name in (*LEVELS, "atomic")])
    at_barriers = waits.kind == KIND["barrier"]
    total, rounds = _rounds(work, unloaded, waits, ~cold)
    plain, _ = _rounds(work, unloaded, waits, ~cold & ~at_barriers)
    of_memory, memory_rounds = _rounds(work, unloaded, waits, memory)
    # A warp at a barrier waits for whatever the last warp to arrive waited for.
    of_memory *= total / np.maximum(plain, 1e-9)
    met = barriers_of_memory(work, waits, memory) / memory_rounds
    return Latency(total, rounds, of_memory * np.minimum(met, 1), unloaded[cold].sum(0))


def barriers_of_memory(work: Work, waits: Waits, memory: np.ndarray) -> float:
    """Times that a warp waits at a barrier for one that waited for memory."""
    n_instructions = len(work.counters.executed.pc)
    at_barrier = waits.reason == REASON["barrier"]
    recorded, of_memory = np.zeros(n_instructions + 1), np.zeros(n_instructions + 1)
    np.add.at(recorded, waits.waiting[~at_barrier], waits.cycles[~at_barrier])
    np.add.at(of_memory, waits.waiting[memory], waits.cycles[memory])
    is_barrier = waits.kind == KIND["barrier"]
    share = of_memory[waits.cause[is_barrier]] / np.maximum(recorded[waits.cause[is_barrier]], 1)
    return float((waits.count[is_barrier] * share).sum() / work.counters.warps)


def _rounds(work: Work, unloaded: np.ndarray, waits: Waits, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A warp's cycles of the selected stalls, and the equivalent number of stalls of equal length."""
    cycles = unloaded[selected].sum(0) / work.counters.warps
    squares = (unloaded[selected] ** 2 / np.maximum(waits.count[selected], 1)[:, None]).sum(0) / work.counters.warps
    return cycles, np.maximum(1, cycles**2 / np.maximum(squares, 1e-9))


def _fill(unloaded: np.ndarray, work: Work, waits: Waits, selected: np.ndarray, of_kind: Callable) -> None:
    if selected.any():
        unloaded[selected] = of_kind(work, waits, selected)


def _cause_op(work: Work, waits: Waits, selected: np.ndarray) -> np.ndarray:
    """Indices of the causes' rows in LaunchCounters.ops; 0 for an instruction of another launch."""
    cause = waits.cause[selected]
    return np.where(cause >= 0, work.counters.executed.op[cause], 0)


def moved(waits: Waits, selected: np.ndarray, cycles: np.ndarray, at_least: bool) -> np.ndarray:
    """Stalls whose events take `cycles`, (stalls or 1, chips), the reference chip first. For a fixed latency a stall is
    the part that the instructions in between do not hide. `at_least` is for loads, whose recorded stalls may include
    waits for other warps; concurrent loads share one latency, and so their stalls grow in proportion to it.
    """
    recorded, count = waits.cycles[selected, None], waits.count[selected, None]
    if at_least:
        return np.minimum(recorded, count * cycles[:, :1]) * cycles / np.maximum(cycles[:, :1], 1e-9)
    return np.maximum(0, recorded + count * (cycles - cycles[:, :1]))


def levels(work: Work, traffic: Traffic) -> dict[str, np.ndarray]:
    """Cycles from load to use by the level that a load's last part came from on the reference chip. Lines that another
    chip's caches lose come from the next level, lines that they gain from the previous one.
    """
    chips = work.chips
    near, far, dram = chips["l2_near_cycles"], chips["l2_far_cycles"], chips["dram_cycles"]
    return {
        "l1": chips["latency.memory"] + traffic.l1_lost * (near - chips["latency.memory"]),
        "l2": near + traffic.l2_lost * (dram - near),
        "l2_far": far + traffic.l2_lost * (dram - far),
        "dram": dram + traffic.l2_gained * (near - dram),
        "pending": dram + traffic.l2_gained * (near - dram),
    }


def _load(cycles: np.ndarray) -> Callable:
    """A recorded stall that is longer than its load's latency includes a wait in a queue."""
    return lambda work, waits, of: moved(waits, of, cycles[None], True)


def _by_number(name: str) -> Callable:
    return lambda work, waits, of: moved(waits, of, work.chips[name][None], False)


def _by_instruction(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, work.facts.latency[_cause_op(work, waits, of)], True)


def _shared(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    """An instruction for global memory with a stall like that of shared memory belongs to a draw: its data stay on the
    chip.
    """
    ops = _cause_op(work, waits, of)
    is_global = np.array([op.space != "shared" for op in work.counters.ops])[ops]
    of_draw = is_global & (waits.reason[of] == REASON["short_scoreboard"])
    cycles = np.where(of_draw[:, None], work.chips["latency.shared"], work.facts.latency[ops])
    return moved(waits, of, cycles, True)


def _result(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, work.facts.latency[_cause_op(work, waits, of)], False)


def _slot(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, work.facts.chain[_cause_op(work, waits, of)], False)


def _atomic(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return moved(waits, of, np.maximum(work.chips["latency.atomic"], work.chips["l2_near_cycles"])[None], True)


def _own_pipe(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    """A warp waits for the pipe that its last instruction occupies."""
    occupied = sum(work.facts.busy[pipe] for pipe in PIPES)[_cause_op(work, waits, of)]
    before = np.maximum(occupied[:, :1] - 1, 0.5)
    return waits.cycles[of, None] * np.maximum(occupied - 1, 0) / before


def _store(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    """After its last instruction a warp stays until its stores have left, at a fence until they have arrived."""
    leaves = (waits.reason[of] == REASON["drain"])[:, None]
    cycles = np.where(leaves, work.chips["store_drain_cycles"], work.chips["l2_store_cycles"])
    return moved(waits, of, cycles, True)


def _self(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    reasons = waits.reason[of][:, None]
    cycles = np.where(reasons == REASON["barrier"], work.chips["barrier_cycles"], 0)
    cycles = np.where(reasons == REASON["membar"], work.chips["membar_l2_cycles"], cycles)
    cycles = np.where(reasons == REASON["wait"], work.chips["control_cycles"], cycles)
    cycles = np.where(reasons == REASON["branch_resolving"], work.chips["exit_cycles"], cycles)
    return moved(waits, of, cycles, False)


def _as_recorded(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return np.repeat(waits.cycles[of, None], len(work.chips), 1)


def _nothing(work: Work, waits: Waits, of: np.ndarray) -> np.ndarray:
    return np.zeros((np.count_nonzero(of), len(work.chips)))


MODELS: dict[str, Callable] = {
    **{name: _by_number(number) for name, number in COLD.items()},
    **dict.fromkeys(BY_INSTRUCTION, _by_instruction),
    "shared": _shared,
    "branch": _by_number("branch_cycles"),
    "result": _result,
    "slot": _slot,
    "atomic": _atomic,
    "pipe": _own_pipe,
    "store": _store,
    "self": _self,
    "barrier": _nothing,  # see _share_barriers
    **dict.fromkeys(("queue", "scheduler", "grid", "signal"), _nothing),
    **dict.fromkeys(("arrival", "copy", "product"), _as_recorded),
}
LEVELS = ("l1", "l2", "l2_far", "dram", "pending")
assert MODELS.keys() | set(LEVELS) == KIND.keys(), MODELS.keys() ^ KIND.keys()


def _share_barriers(unloaded: np.ndarray, work: Work, waits: Waits) -> None:
    """At a barrier warps wait for the last one, and so for whatever that one waited for: the same share of it remains
    without other warps, and scales with it.
    """
    n_instructions = len(work.counters.executed.pc)
    at_barrier = waits.reason == REASON["barrier"]
    recorded, idle_chip = np.zeros(n_instructions + 1), np.zeros((n_instructions + 1, len(work.chips)))
    np.add.at(recorded, waits.waiting[~at_barrier], waits.cycles[~at_barrier])
    np.add.at(idle_chip, waits.waiting[~at_barrier], unloaded[~at_barrier])
    is_barrier = waits.kind == KIND["barrier"]
    share = idle_chip[waits.cause[is_barrier]] / np.maximum(recorded[waits.cause[is_barrier]], 1)[:, None]
    unloaded[is_barrier] = waits.cycles[is_barrier, None] * share
