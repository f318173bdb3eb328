"""The kinds of interventions: what each changes, in a sentence, and how."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.timing.state.static_program import StaticProgram
from gpuprof.whatif.changes import (
    on_accesses,
    on_blocks,
    on_chip,
    on_loops,
    on_order,
    on_program,
    on_registers,
    on_steps,
    on_tiles,
)
from gpuprof.whatif.changes.intervention import Intervention


class Scene(NamedTuple):
    """A launch as the timing model gets it: its program on a chip, and its whole pieces, by first block."""

    chip: Chip
    program: StaticProgram
    pieces: tuple[TracePiece, ...]


# with the instructions that it is about, bool (n_instructions,)
OnTrace = Callable[[Scene, np.ndarray, Intervention], Scene]


class Kind(NamedTuple):
    """`rule`: what is changed. One of `on_chip` and `on_trace` does it."""

    rule: str
    on_chip: Callable[[Chip, Intervention], Chip] | None = None
    on_trace: OnTrace | None = None


def _accesses(change: Callable[[StaticProgram, TracePiece, np.ndarray], TracePiece]) -> OnTrace:
    """A change of each piece."""
    return lambda scene, chosen, _: scene._replace(
        pieces=tuple(change(scene.program, piece, chosen) for piece in scene.pieces)
    )


def _instructions(change: Callable[[StaticProgram, np.ndarray], StaticProgram]) -> OnTrace:
    """A change of the program only."""
    return lambda scene, chosen, _: scene._replace(program=change(scene.program, chosen))


def _both(change: Callable[[StaticProgram, TracePiece, np.ndarray], tuple[StaticProgram, TracePiece]]) -> OnTrace:
    """A change of the program that takes accesses out of each piece."""

    def applied(scene: Scene, chosen: np.ndarray, _: Intervention) -> Scene:
        changed = [change(scene.program, piece, chosen) for piece in scene.pieces]
        return scene._replace(program=changed[0][0], pieces=tuple(piece for _, piece in changed))

    return applied


def _traces(
    change: Callable[
        [StaticProgram, Sequence[TracePiece], np.ndarray, int], tuple[StaticProgram, tuple[TracePiece, ...]]
    ],
) -> OnTrace:
    """A change of the program and all pieces together, by an amount."""

    def applied(scene: Scene, chosen: np.ndarray, what: Intervention) -> Scene:
        program, pieces = change(scene.program, scene.pieces, chosen, what.amount)
        return scene._replace(program=program, pieces=pieces)

    return applied


def _blocks(change: Callable[[Sequence[TracePiece], int], tuple[TracePiece, ...]]) -> OnTrace:
    """A change of which blocks there are, by an amount."""
    return lambda scene, _, what: scene._replace(pieces=change(scene.pieces, what.amount))


def _order(change: Callable[[StaticProgram, Sequence[TracePiece]], tuple[TracePiece, ...]]) -> OnTrace:
    """A change of which block or warp does what."""
    return lambda scene, _, __: scene._replace(pieces=change(scene.program, scene.pieces))


def _sooner(scene: Scene, chosen: np.ndarray, what: Intervention) -> Scene:
    return scene._replace(program=on_program.with_sooner_results(scene.program, chosen, what.amount))


def _on_this_chip(change: Callable) -> OnTrace:
    """A change of program and pieces that takes numbers of the chip."""

    def applied(scene: Scene, chosen: np.ndarray, what: Intervention) -> Scene:
        return _both(lambda *given: change(*given, scene.chip))(scene, chosen, what)

    return applied


def _f32(scene: Scene, chosen: np.ndarray, _: Intervention) -> Scene:
    return scene._replace(program=on_program.in_single_precision(scene.program, chosen, scene.chip))


def _tiled(scene: Scene, chosen: np.ndarray, what: Intervention) -> Scene:
    program, pieces = on_tiles.tiled(scene.program, scene.pieces, chosen, what.amount, scene.chip)
    return scene._replace(program=program, pieces=pieces)


def _loaded_once(scene: Scene, chosen: np.ndarray, _: Intervention) -> Scene:
    program, pieces = on_registers.loaded_once(scene.program, scene.pieces, chosen)
    return scene._replace(program=program, pieces=pieces)


def _in_registers(scene: Scene, chosen: np.ndarray, _: Intervention) -> Scene:
    program, pieces = on_registers.in_registers(scene.program, scene.pieces, chosen, scene.chip)
    return scene._replace(program=program, pieces=pieces)


def _split(scene: Scene, _: np.ndarray, what: Intervention) -> Scene:
    return scene._replace(pieces=on_loops.split(scene.program, scene.pieces, what.amount))


def _full_warps(scene: Scene, _: np.ndarray, __: Intervention) -> Scene:
    return scene._replace(pieces=tuple(on_steps.full_warps(scene.program, piece) for piece in scene.pieces))


def _thinned(scene: Scene, chosen: np.ndarray, what: Intervention) -> Scene:
    return scene._replace(
        pieces=tuple(on_steps.thinned(scene.program, piece, chosen, what.amount) for piece in scene.pieces)
    )


KINDS = {
    "l1_hits": Kind("Its loads hit the L1: they pass the load/store unit as before, and ask the L2 for nothing.",
        on_trace=_accesses(on_accesses.without_sectors)),
    "l2_hits": Kind("What it reads, the L2 has: it never waits for the DRAM.",
        on_trace=_instructions(on_program.with_l2_hits)),
    "loaded_once": Kind("Its loads of what the warp has loaded there before are not there: a register still has it.",
        on_trace=_loaded_once),
    "from_shared": Kind("Its loads come from shared memory, without bank conflicts.",
        on_trace=_on_this_chip(on_program.in_shared_memory)),
    "tiled": Kind("Its loads come from a tile in shared memory, as by `from_shared`; each thread of the block loads so "
        "many elements of each tile before, and stores them, between two barriers.", on_trace=_tiled),
    "packed": Kind("Its accesses to global memory take the fewest sectors for their bytes: the lines that they fill, "
        "of those that they touched, the least used first.", on_trace=_accesses(on_accesses.packed)),
    "no_conflicts": Kind("Its accesses to shared memory pass the banks as often as their bytes need.",
        on_trace=_accesses(on_accesses.without_conflicts)),
    "own_addresses": Kind("No lanes of its atomics meet, and each warp has lines of its own for them.",
        on_trace=_accesses(on_accesses.with_addresses_of_their_own)),
    "one_a_warp": Kind("Its atomics are one lane's: what a warp's lanes add is added up before.",
        on_trace=_accesses(on_accesses.one_a_warp)),
    "one_constant": Kind("All lanes of its loads of constants read the same one.",
        on_trace=_accesses(on_accesses.uniform)),
    "sooner": Kind("Its results come so many cycles sooner: one cycle after their issue at the soonest, and from the "
        "L2 not before the end of the quantum of 64 cycles of their request.", on_trace=_sooner),
    "loads_first": Kind("The loads of so many runs of its basic block come first, with what they need, as where a loop "
        "is unrolled; each value has a register of its own, and one comparison and branch is left.",
        on_trace=_traces(on_order.loads_first)),
    "free": Kind("Its instructions take no issue slot, no unit and no memory; their results are there with their "
        "operands.", on_trace=_both(on_program.removed)),
    "one_slot": Kind("Its instructions that take several issue slots, as divisions do, take one, and the time of a "
        "multiplication.", on_trace=_on_this_chip(on_program.in_one_slot)),
    "f32": Kind("Its f64 arithmetic takes the pipe, and the time, of f32.", on_trace=_f32),
    "open_barrier": Kind("No warp waits at the barrier.", on_trace=_both(on_program.without_waiting)),
    "no_fence": Kind("The fence orders nothing, and the L1 keeps what it has.",
        on_trace=_instructions(on_program.without_fences)),
    "one_side": Kind("Both sides of the branch run as one: the steps of the longer side, once.",
        on_trace=_accesses(on_steps.joined_sides)),
    "no_spills": Kind("Accesses to local memory take no issue slot and no memory.",
        on_trace=_both(on_program.removed)),
    "in_registers": Kind("Each word of local memory is a register: accesses to the same words every time take no issue "
        "slot, and wait for what is stored there; others select, once for each word that they may access.",
        on_trace=_in_registers),
    "perfect_l1": Kind("All loads hit the L1.", on_trace=_accesses(on_accesses.without_sectors)),
    "perfect_l2": Kind("All that is read, the L2 has.", on_trace=_instructions(on_program.with_l2_hits)),
    "endless_dram": Kind("The DRAM has no limit of bandwidth and opens rows in no time; its latency stays.",
        on_chip.endless_dram),
    "more_registers": Kind("Registers do not limit the blocks of an SM.", on_chip.endless_registers),
    "more_shared": Kind("Shared memory does not limit the blocks of an SM, and takes nothing of the L1.",
        on_chip.endless_shared),
    "more_blocks": Kind("The number of an SM's blocks is not limited, only that of its warps.",
        on_chip.endless_blocks),
    "twice": Kind("The unit takes half the time for each use; latencies stay.", on_chip.twice_as_fast),
    "no_overhead": Kind("The launch itself costs nothing.", on_chip.without_launch_overhead),
    "dealt": Kind("Blocks start in the order of the issue slots that they take, most first, so that SMs end together.",
        on_trace=_order(on_blocks.dealt)),
    "split": Kind("Each block is so many blocks, each of which does a part of the turns of its loops, and all that is "
        "before and after them.", on_trace=_split),
    "one_in": Kind("Only one of so many blocks is there: the others would do the same work again.",
        on_trace=_blocks(on_blocks.one_in)),
    "repeated": Kind("There are all blocks, so many times.", on_trace=_blocks(on_blocks.repeated)),
    "dealt_turns": Kind("The turns of the outermost loops are dealt to the blocks one by one, and in each block to its "
        "warps; where turns have barriers, those of a block's warps together.", on_trace=_order(on_loops.dealt_turns)),
    "smaller_blocks": Kind("Each block is so many blocks of a part of its warps.", on_trace=_blocks(on_blocks.smaller)),
    "full_warps": Kind("Lanes that go the same way are together: as many runs of each basic block as they fill warps.",
        on_trace=_full_warps),
    "thinned": Kind("Of a warp's runs of its basic block, there is one of so many.", on_trace=_thinned),
    "wide": Kind("One warp does the work of so many blocks' warps that follow each other: its accesses are as many "
        "times as wide, all else it does once.", on_trace=_traces(on_blocks.wide)),
    "merged": Kind("One warp does the work of so many warps of its block: its accesses are as many times as wide, what "
        "it computes of them it computes as many times, all else it does once.", on_trace=_traces(on_blocks.merged)),
    "first_blocks": Kind("Only so many blocks are there, of those that start first.",
        on_trace=_blocks(on_blocks.first_blocks)),
}  # fmt: skip


def changed_chip(chip: Chip, interventions: Sequence[Intervention]) -> Chip:
    for each in interventions:
        if KINDS[each.kind].on_chip:
            chip = KINDS[each.kind].on_chip(chip, each)
    return chip


def changed_trace(scene: Scene, interventions: Sequence[Intervention]) -> Scene:
    for each in interventions:
        if KINDS[each.kind].on_trace:
            chosen = np.zeros(len(scene.program.inst), np.bool_)
            chosen[list(each.insts)] = True
            scene = KINDS[each.kind].on_trace(scene, chosen, each)
    return scene
