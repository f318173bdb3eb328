"""Kinds of waits: what a warp's stalled cycles are added up by, and which stall reasons each has."""

import numpy as np

from gpuprof.isa.stalls import INDEX, NAMES

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
