"""Latency tables, worked out from a chip's numbers: how long after its latency a result of fixed latency can be read,
by the kinds of its producer and its reader, and how long a barrier's round takes.

A chip's `[latency]` is the time of a result back to its own pipe; its `[bypass]` adds what other readers wait. The
scoreboard's entries name the producer of a register, so a dependency costs one lookup in a square table.
"""

import numpy as np

from gpuprof.chips import Chip
from gpuprof.isa.row import Opcode
from gpuprof.timing.state.layout import PORTS

# Kinds of makers and readers: the ports of a partition, and the multiplications of which the upper half is taken.
KINDS = (*PORTS, "high")
N_KINDS = len(KINDS)

# (maker, reader) -> key of the chip's [bypass] table; a star is any other kind. What is not here is "math".
KEYS = {
    ("half", "half"): "half_to_half",
    ("half", "xu"): "half_to_xu",
    ("half", "lsu"): "half_to_memory",
    ("half", "tensor"): "tensor",
    ("half", "*"): "half_to_math",
    ("fp64", "lsu"): "fp64_to_memory",
    ("fp64", "tensor"): "tensor",
    ("fp64", "*"): "fp64_to_math",
    ("tensor", "lsu"): "tensor_to_memory",
    ("tensor", "*"): "tensor_to_math",
    ("high", "high"): "high_to_high",
    ("*", "half"): "half",
    ("*", "fp64"): "fp64",
    ("*", "xu"): "xu",
    ("*", "lsu"): "memory",
    ("*", "tensor"): "tensor",
}
MOST_WARPS = 64  # of a barrier's round; more warps take as long as these
ONE_PIPE = frozenset(("fma", "high"))


def kind_of(op: Opcode, port: int) -> int:
    """The place of an instruction in KINDS, as a maker and as a reader."""
    return KINDS.index("high") if op.latency == "imad_hi" else port


def bypass_cycles(chip: Chip) -> np.ndarray:
    """int64 (N_KINDS, N_KINDS): cycles a reader (row) waits for a maker's (column) result beyond its latency; may be
    negative.
    """
    return np.array([[_between(chip, maker, reader) for maker in KINDS] for reader in KINDS], np.int64)


def _between(chip: Chip, maker: str, reader: str) -> int:
    if (maker, reader) not in KEYS and (maker == reader or {maker, reader} == ONE_PIPE):
        return 0
    keys = (KEYS[pair] for pair in ((maker, reader), (maker, "*"), ("*", reader)) if pair in KEYS)
    return chip.bypass[next(keys, "math")]


def round_cycles(chip: Chip) -> np.ndarray:
    """int64 (MOST_WARPS + 1,): the cycles of a barrier's round by the warps that meet at it: linear between the entries
    of the chip's table, constant after the last.
    """
    warps = [int(name.removeprefix("warps_")) for name in chip.barrier]
    return np.rint(np.interp(np.arange(MOST_WARPS + 1), warps, list(chip.barrier.values()))).astype(np.int64)
