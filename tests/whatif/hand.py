"""Launches written by hand, as subjects of what-ifs."""

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import starts
from gpuprof.isa.encoding import encode, make
from gpuprof.run.subject import Subject
from gpuprof.timing.batch import Grid
from gpuprof.timing.piece_accesses import sector_counts
from gpuprof.timing.state.machine import power_on
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.kinds import Scene
from gpuprof.whatif.timing_again import changed, timed
from tests.support.timing_support import access, launch, piece, warp
from tests.timing.test_timing import A64

# A load in a loop, of basic block 0; block 1 is the exit.
LOOP = [make("LDG.32", dst=0, a=2, mods=A64), make("BRA", guard=0, imm=-32 & 0xFFFFFFFF), make("EXIT")]


def turns(*sectors):
    """A warp of LOOP, which loads a sector in each turn."""
    return warp([0] * len(sectors) + [1], [access([s]) for s in sectors])


def subject(chip, instructions, warps, warps_per_block=1, **numbers) -> Subject:
    """A launch of hand-made traces (timing_support.warp) on a chip that has just been switched on."""
    job = launch(encode(instructions), blocks=len(warps) // warps_per_block, threads=32 * warps_per_block, **numbers)
    return Subject((Grid(job, iter(())),), ((piece(warps, warps_per_block),),), 0, power_on(chip))


def cycles(some: Subject, *interventions: Intervention) -> int:
    timing = timed(some, interventions)
    return timing.end_cycle - timing.start_cycle


def at(kind: str, *insts: int, **more) -> Intervention:
    return Intervention(kind, insts, **more)


def warps_of(piece: TracePiece) -> list:
    """A piece's warps as timing_support.warp gives them: (blocks, accesses, masks)."""
    sector_start = starts(sector_counts(piece.accesses))
    found = []
    for row in range(len(piece.final)):
        steps = piece.steps[piece.step_start[row] : piece.step_start[row + 1]]
        numbers = range(piece.access_start[row], piece.access_start[row + 1])
        accesses = [
            (tuple(map(int, piece.accesses[k])), piece.sectors[sector_start[k] : sector_start[k + 1]].tolist())
            for k in numbers
        ]
        found.append((steps["block"].tolist(), accesses, steps["mask"].tolist()))
    return found


def sector_rows(piece: TracePiece) -> list[list[int]]:
    """The sectors of each access."""
    return [some.tolist() for some in np.split(piece.sectors, starts(sector_counts(piece.accesses))[1:-1])]


def after(chip, code, warps, what, per_block=1) -> Scene:
    _, scene, _ = changed(subject(chip, code, warps, per_block), [what])
    return scene


def shape(piece: TracePiece) -> tuple[int, int]:
    return piece.n_blocks, piece.warps_per_block


def rows(piece: TracePiece) -> list[tuple[list[int], list[int]]]:
    """The basic blocks and sectors of each warp."""
    return [(blocks, [s for _, some in accesses for s in some]) for blocks, accesses, _ in warps_of(piece)]
