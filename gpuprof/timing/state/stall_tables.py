"""Stalls by length and by kind of wait: the tables in which the engine counts them (`ledger.charge`), and the stalls of
a launch.

A stall is the cycles that a warp waits for one reason before one issue of an instruction. A dependency of a class holds
for one interval before an issue, and that is its stall. Cycles in which the port was busy, and those in which the
scheduler picked another warp, may alternate before an issue: those of each are one stall together. What keeps a warp
after its issue (a barrier, a fence, the drain at its end) is one stall, too.

Counts are in rows of the table `stalls`, one for each (instruction, reason) that ever stalled, taken as they are
needed: `stall_row` says which, 0 none. So a program that is mostly not run, or a batch of many grids, touches little
memory.

    place in a row
    0 .. N_BINS - 1   stalls of 2^place cycles to 2^(place + 1) - 1 (the last: and more)
    N_BINS            the longest, cycles
"""

import numpy as np

from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.timing.state.layout import N_CLASSES

N_BINS = 39  # up to minutes
ROW = N_BINS + 1
ROWS_OF_INSTRUCTION = N_CLASSES + 4  # and not selected, throttled, held, drained

STALLS_DTYPE = np.dtype(
    [("instruction", "<i8"), ("reason", "<i8"), ("longest_cycles", "<u8"), ("bins", "<u8", (N_BINS,))]
)

# Kinds of waits, by which a warp's stalled cycles are added up, and the stall reasons of each.
WAITS = {
    "fixed": ("wait", "branch_resolving", "dispatch_stall"),
    "memory": ("long_scoreboard", "membar", "drain"),
    "short": ("short_scoreboard",),
    "barrier": ("barrier", "warpgroup_arrive"),
    "throttle": ("mio_throttle", "lg_throttle", "tex_throttle", "math_pipe_throttle"),
    "fetch": ("no_instructions", "imc_miss"),
    "turn": ("not_selected",),
    "other": ("sleeping", "misc"),
}
assert sorted(name for names in WAITS.values() for name in names) == sorted(set(NAMES) - {"selected"})


def _wait_of_reason() -> np.ndarray:
    kinds = np.full(len(NAMES), -1, np.int64)
    for number, names in enumerate(WAITS.values()):
        kinds[[INDEX[name] for name in names]] = number
    return kinds


WAIT_OF_REASON = _wait_of_reason()  # -1: selected


def n_stall_rows(n_instructions: int) -> int:
    """Rows of the table `stalls`, of which a batch takes the first ones that it needs."""
    return 1 + n_instructions * ROWS_OF_INSTRUCTION


def add_stalls(rows: np.ndarray, stalls: np.ndarray, n_taken: int, more_rows: np.ndarray, more: np.ndarray) -> int:
    """Adds the stalls of `more_rows` and `more` to those of `rows` and `stalls`, of which `n_taken` rows are taken;
    returns how many are now.
    """
    where = np.nonzero(more_rows)
    new = rows[where] == 0
    n_new = int(np.count_nonzero(new))
    rows[tuple(index[new] for index in where)] = np.arange(n_taken + 1, n_taken + 1 + n_new)
    to, added = rows[where], more[more_rows[where]]
    stalls[to, :N_BINS] += added[:, :N_BINS]
    stalls[to, N_BINS] = np.maximum(stalls[to, N_BINS], added[:, N_BINS])
    return n_taken + n_new


def stalls_of(rows: np.ndarray, stalls: np.ndarray) -> np.ndarray:
    """STALLS_DTYPE, ascending by (instruction, reason): what instructions with these rows of `stall_row` have in
    `stalls`.
    """
    instruction, reason = np.nonzero(rows)
    taken = stalls[rows[instruction, reason]]
    table = np.zeros(len(instruction), STALLS_DTYPE)
    table["instruction"], table["reason"], table["bins"], table["longest_cycles"] = (
        instruction,
        reason,
        taken[:, :N_BINS],
        taken[:, N_BINS],
    )
    return table


def scaled_stalls(stalls: np.ndarray, factor: float) -> np.ndarray:
    """The stalls of a launch whose work is `factor` times (1 at least) the work that was timed: more stalls, none
    longer.
    """
    more = stalls.copy()
    more["bins"] = np.rint(stalls["bins"] * factor)
    return more
