"""Issue slots, pipe time and latency of each instruction on each chip, as float64 arrays (ops, chips)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof.isa.families.tensor import GROUPS, form_of
from gpuprof.isa.row import NO_LATENCY, Opcode
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.timing.state.expansion import row_on_architecture, slot_interval

PIPES = ("alu", "fma", "fp64", "half", "xu", "tensor")
LANES_OF_LATENCY = {"imad": "imad", "imad_hi": "imad"}
GROUP_UNITS = frozenset(unit for unit, *_ in GROUPS)
THROUGH_QUEUE = ("shuffle", "query", "special", "cluster_barrier", "matrix_transpose")


@dataclass(frozen=True)
class Facts:
    slots: np.ndarray  # issue slots of an execution by the table, not those of its modifiers
    latency: np.ndarray  # cycles
    chain: np.ndarray  # cycles from one slot to the next
    busy: dict[str, np.ndarray]  # cycles that an execution keeps each pipe


def facts_of(ops: Sequence[Opcode], chips: Numbers) -> Facts:
    shape = (len(ops), len(chips))
    facts = Facts(np.ones(shape), np.ones(shape), np.ones(shape), {pipe: np.zeros(shape) for pipe in PIPES})
    archs = np.array(chips.archs)
    for arch in dict.fromkeys(chips.archs):
        on = archs == arch
        for index, op in enumerate(ops):
            _fill(facts, index, on, row_on_architecture(op.number, arch), chips)
    return facts


def _fill(facts: Facts, index: int, on: np.ndarray, op: Opcode, chips: Numbers) -> None:
    facts.slots[index, on] = op.slots
    facts.latency[index, on] = 1 if op.latency in NO_LATENCY else chips[f"latency.{op.latency}"][on]
    chain = f"chain.{op.latency}"
    facts.chain[index, on] = chips[chain if chain in chips.columns else "chain.other"][on]
    if op.slots == 0 or op.kind in THROUGH_QUEUE:
        return
    on_pipe = -(-op.slots // slot_interval(op))
    wide = op.latency == "conversion" and any(type.endswith("64") for type in op.types)
    if op.pipe == "tensor":
        # As in the timing model, doubles take a unit that the partitions share, where there is one.
        shared = (op.latency == "tensor64") & (chips["lanes.fp64"][on] < 1)
        facts.busy["tensor"][index, on] = np.where(shared, 0, on_pipe * _products(op, chips, on))
        facts.busy["fp64"][index, on] = np.where(shared, form_of(op).products / chips["lanes.fp64"][on], 0)
    elif op.pipe in PIPES:
        lanes = chips[f"lanes.{LANES_OF_LATENCY.get(op.latency, op.pipe)}"][on]
        cycles = on_pipe * chips["warp_lanes"][on] * (2 if "f32x2" in op.types else 1)
        narrow = wide & (chips["lanes.fp64"][on] < chips["lanes.xu"][on])
        facts.busy["fp64"][index, on] += np.where(narrow, cycles / chips["lanes.fp64"][on], 0)
        facts.busy[op.pipe][index, on] += np.where(narrow, 0, cycles / lanes)


def _products(op: Opcode, chips: Numbers, on: np.ndarray) -> np.ndarray:
    form = form_of(op)
    share = chips["mma_share"][on] if not form.wgmma and form.unit in GROUP_UNITS else 1
    sums = chips["f32_sum_share"][on] if form.sums_in_f32 else 1
    return form.products / (chips[f"tensor.{form.unit}"][on] * share * sums)
