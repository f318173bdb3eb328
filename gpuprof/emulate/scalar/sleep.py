"""Sleeps. The trace gets a record of each warp where the code does not have the time (isa/sleeps)."""

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.operands import U32, source
from gpuprof.emulate.core.operation import Env, Op, full_row, read_predicate
from gpuprof.emulate.trace_log.trace_entries import sleep_word
from gpuprof.isa.encoding import PT, Instruction
from gpuprof.isa.sleeps import MOST_SLEEP_NS, is_sleep_traced


def build_nanosleep(inst: Instruction, env: Env) -> Op:
    env.spins.add(env.at)
    if not is_sleep_traced(inst):
        return lambda lanes: None
    kind, index = source(inst, "b", U32, env.pool)
    guard = None if inst.guard == PT else read_predicate(inst.guard, env)

    def op(lanes: Lanes) -> None:
        """A record for each warp, also for one of which no lane sleeps."""
        if not lanes.chunk.log.is_wanted:
            return
        held = np.ones(lanes.n, np.bool_) if lanes.active is None else lanes.active
        held = held if guard is None else held & guard(lanes)
        asked_ns = np.where(held, full_row(lanes, lanes.v[kind][index]), 0).reshape(-1, WARP).max(1)
        words = sleep_word(np.minimum(asked_ns, MOST_SLEEP_NS))
        lanes.chunk.log.accesses(lanes.step_warps, words[lanes.masks != 0])

    return op


SEMANTICS = {"nanosleep": build_nanosleep}
