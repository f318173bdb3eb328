"""The compiled model and its readable twin agree cycle for cycle under the same interventions, on random kernels."""

import numpy as np
import pytest

from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.timing_again import changed, timed
from tests.readable.blame import causes_of
from tests.readable.timing import ledger_of
from tests.readable.whatif import ChangedGpu, Changes
from tests.support.seeds import seeds
from tests.timing.test_timing import random_kernel
from tests.whatif.hand import subject, warps_of

CHIP = 'inherits = "a100"\nsms = 2\n'
# Changes of the twin's program, by kind. Other kinds change the trace, which the twin gets changed.
TOLD = {
    "l2_hits": lambda insts, amount: Changes(hits_l2=insts),
    "sooner": lambda insts, amount: Changes(sooner=insts, cycles=amount),
    "free": lambda insts, amount: Changes(gone=insts),
    "open_barrier": lambda insts, amount: Changes(open=insts),
}
ON_TRACE = ("l1_hits", "packed", "no_conflicts", "dealt")
OPERATIONS = {
    "l2_hits": ("LDG.32",),
    "sooner": ("LDG.32", "LDS.32", "FFMA", "DFMA", "MUFU.RCP", "SHFL"),
    "free": ("LDG.32", "STG.32", "LDS.32", "FFMA", "IADD", "SHFL"),
    "open_barrier": ("BAR.SYNC",),
    "l1_hits": ("LDG.32",),
    "packed": ("LDG.32", "STG.32"),
    "no_conflicts": ("LDS.32",),
    "dealt": (),
}


@pytest.mark.parametrize("kind", [*TOLD, *ON_TRACE])
@pytest.mark.parametrize("seed", seeds(2, 1))
def test_same_ledger_and_causes(chip_of, kind, seed):
    chip = chip_of(CHIP)
    code, warps, per_block = random_kernel(40 + seed, 24, 3)
    random = np.random.default_rng(seed)
    fitting = [pc for pc, instruction in enumerate(code) if instruction.op.name in OPERATIONS[kind]]
    insts = tuple(pc for pc in fitting if len(fitting) == 1 or random.random() < 0.7)
    what = Intervention(kind, insts, int(random.integers(1, 400)) if kind == "sooner" else 0)
    some = subject(chip, code, warps, per_block)
    timing = timed(some, [what])
    _, scene, _ = changed(some, [what])
    job = some.launch
    told = TOLD[kind](frozenset(insts), what.amount) if kind in TOLD else Changes()
    twin = ChangedGpu(
        told, chip, job.module.code, job.module.load_base, job.function, 32 * per_block,
        [each for piece in scene.pieces for each in warps_of(piece)],
    ).run()  # fmt: skip
    assert ledger_of(timing) == dict(twin.ledger)
    assert causes_of(timing) == twin.blame.rows()
    assert timing.end_cycle == twin.end
