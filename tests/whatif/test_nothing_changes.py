"""An intervention that has nothing to change gives the same ledger, to the last cycle: for each kind."""

import pytest

from gpuprof.isa.encoding import make
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.kinds import KINDS
from gpuprof.whatif.timing_again import timed
from tests.support.timing_support import warp
from tests.timing.test_timing import ffma, random_kernel
from tests.whatif.hand import subject

N_BLOCKS = 8
# Kinds on the launch, with a number or a unit for which there is nothing to do.
NEUTRAL = {
    "split": Intervention("split", amount=1),
    "one_in": Intervention("one_in", amount=1),
    "first_blocks": Intervention("first_blocks", amount=N_BLOCKS),
    "repeated": Intervention("repeated", amount=1),
    "smaller_blocks": Intervention("smaller_blocks", amount=1),
    "thinned": Intervention("thinned", amount=1),
    "wide": Intervention("wide", amount=1),
    "merged": Intervention("merged", amount=1),
    "loads_first": Intervention("loads_first", amount=1),
    "tiled": Intervention("tiled", amount=1),
    "twice": Intervention("twice", unit="tensor"),
}
# What each of these changes, this kernel has not: it takes nothing of DRAM, it has no loops, and its warps are full.
ONLY_ARITHMETIC = ("endless_dram", "dealt_turns", "full_warps")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_ledger(chip_of, kind):
    chip = chip_of('inherits = "a100"\nsms = 2\n')
    if kind in ONLY_ARITHMETIC:
        some = subject(chip, [*([ffma(0, 0)] * 9), make("EXIT")], [warp([0])] * N_BLOCKS)
    else:
        code, warps, per_block = random_kernel(7, 3 * N_BLOCKS, 3)
        some = subject(chip, code, warps, per_block)
    before, after = timed(some), timed(some, [NEUTRAL.get(kind, Intervention(kind))])
    assert (after.ledger == before.ledger).all()
    assert (after.start_cycle, after.end_cycle) == (before.start_cycle, before.end_cycle)


def test_the_subject_stays_as_it_is(chip_of):
    code, warps, per_block = random_kernel(7, 24, 3)
    some = subject(chip_of('inherits = "a100"\nsms = 2\n'), code, warps, per_block)
    before = timed(some)
    for kind in KINDS:
        timed(some, [NEUTRAL.get(kind, Intervention(kind, tuple(range(len(code)))))])
    assert (timed(some).ledger == before.ledger).all()
