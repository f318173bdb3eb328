"""The kinds of interventions: what each changes, in a sentence, and how."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.timing.state.static_program import StaticProgram
from gpuprof.whatif import on_accesses, on_chip, on_program, on_steps
from gpuprof.whatif.intervention import Intervention

Pieces = tuple[TracePiece, ...]
OnTrace = Callable[[StaticProgram, Pieces, np.ndarray, Intervention], tuple[StaticProgram, Pieces]]


class Kind(NamedTuple):
    """`rule`: what is changed. One of `on_chip` and `on_trace` does it."""

    rule: str
    on_chip: Callable[[Chip, Intervention], Chip] | None = None
    on_trace: OnTrace | None = None


def _accesses(change: Callable[[StaticProgram, TracePiece, np.ndarray], TracePiece]) -> OnTrace:
    """A change of the accesses of each piece."""

    def applied(program: StaticProgram, pieces: Pieces, chosen: np.ndarray, _: Intervention):
        return program, tuple(change(program, piece, chosen) for piece in pieces)

    return applied


def _both(change: Callable[[StaticProgram, TracePiece, np.ndarray], tuple[StaticProgram, TracePiece]]) -> OnTrace:
    """A change of the program that takes accesses out of each piece."""

    def applied(program: StaticProgram, pieces: Pieces, chosen: np.ndarray, _: Intervention):
        changed = [change(program, piece, chosen) for piece in pieces]
        return changed[0][0], tuple(piece for _, piece in changed)

    return applied


def _l2_hits(program: StaticProgram, pieces: Pieces, chosen: np.ndarray, _: Intervention):
    return on_program.with_l2_hits(program, chosen), pieces


def _sooner(program: StaticProgram, pieces: Pieces, chosen: np.ndarray, what: Intervention):
    return on_program.with_sooner_results(program, chosen, what.amount), pieces


def _dealt(program: StaticProgram, pieces: Pieces, chosen: np.ndarray, _: Intervention):
    return program, on_steps.dealt(program, pieces)


KINDS = {
    "l1_hits": Kind("Its loads hit the L1: they pass the load/store unit as before, and ask the L2 for nothing.",
        on_trace=_accesses(on_accesses.without_sectors)),
    "l2_hits": Kind("What it reads, the L2 has: it never waits for the DRAM.", on_trace=_l2_hits),
    "packed": Kind("Its accesses to global memory take the fewest sectors for their bytes: the lines that they fill, of "
        "those that they touched, in turn.", on_trace=_accesses(on_accesses.packed)),
    "no_conflicts": Kind("Its accesses to shared memory pass the banks as often as their bytes need.",
        on_trace=_accesses(on_accesses.without_conflicts)),
    "own_addresses": Kind("No lanes of its atomics meet, and each warp has lines of its own for them.",
        on_trace=_accesses(on_accesses.with_addresses_of_their_own)),
    "sooner": Kind("Its results come so many cycles sooner: one cycle after their issue at the soonest, and from the L2 "
        "not before the end of the quantum of 64 cycles in which they were asked for.", on_trace=_sooner),
    "free": Kind("Its instructions take no issue slot, no unit and no memory; their results are there with their "
        "operands.", on_trace=_both(on_program.removed)),
    "open_barrier": Kind("The barrier waits for nobody.", on_trace=_both(on_program.without_waiting)),
    "one_side": Kind("Both sides of the branch run as one: the steps of the longer side, once.",
        on_trace=_accesses(on_steps.joined_sides)),
    "no_spills": Kind("Accesses to local memory take no issue slot and no memory.",
        on_trace=_both(on_program.removed)),
    "perfect_l1": Kind("All loads hit the L1.", on_trace=_accesses(on_accesses.without_sectors)),
    "perfect_l2": Kind("All that is read, the L2 has.", on_trace=_l2_hits),
    "endless_dram": Kind("The DRAM has no limit of bandwidth and opens rows in no time; its latency stays.",
        on_chip.endless_dram),
    "more_registers": Kind("Registers do not limit the blocks of an SM.", on_chip.endless_registers),
    "more_shared": Kind("Shared memory does not limit the blocks of an SM, and takes nothing of the L1.",
        on_chip.endless_shared),
    "twice": Kind("The unit takes half the time for each use; latencies stay.", on_chip.twice_as_fast),
    "no_overhead": Kind("The launch itself costs nothing.", on_chip.without_launch_overhead),
    "dealt": Kind("Blocks start in the order of the issue slots that they take, most first, so that SMs end together.",
        on_trace=_dealt),
}  # fmt: skip


def changed_chip(chip: Chip, interventions: Sequence[Intervention]) -> Chip:
    for each in interventions:
        if KINDS[each.kind].on_chip:
            chip = KINDS[each.kind].on_chip(chip, each)
    return chip


def changed_trace(
    program: StaticProgram, pieces: Pieces, interventions: Sequence[Intervention]
) -> tuple[StaticProgram, Pieces]:
    for each in interventions:
        if KINDS[each.kind].on_trace:
            chosen = np.zeros(len(program.inst), np.bool_)
            chosen[list(each.insts)] = True
            program, pieces = KINDS[each.kind].on_trace(program, pieces, chosen, each)
    return program, pieces
