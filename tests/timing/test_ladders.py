"""What a user tries on a matrix product helps in the model, too: more stages, padded rows, and the pipe is never fuller
than it can be.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.paths import TESTS
from tests.support.running import run_file

PROGRAM = TESTS / "programs" / "tensor_ladder.cu"
SIZE, DEPTH = 64, 512
VARIANTS = {"unpadded": (3, 0), "one stage": (1, 8), "two stages": (2, 8), "three stages": (3, 8)}


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    """Per variant the launch's result, and the product: one block on an A100 of one SM."""
    folder = tmp_path_factory.mktemp("ladder")
    chip = folder / "one.toml"
    chip.write_text('inherits = "a100"\nsms = 1\n')
    rng = np.random.default_rng(3)
    source = Path(shutil.copy(PROGRAM, folder))  # the arrays stand beside it
    shutil.copy(PROGRAM.with_name("matrices.h"), folder)
    a, b = rng.standard_normal((SIZE, DEPTH)).astype(np.float16), rng.standard_normal((DEPTH, SIZE)).astype(np.float16)
    np.save(folder / "a.npy", a.reshape(-1))
    np.save(folder / "b.npy", b.reshape(-1))
    found = {}
    for name, (stages, pad) in VARIANTS.items():
        launch = (
            f"product<{stages}, {pad}><<<1, 128>>>(a: f16[{a.size}]=a.npy, b: f16[{b.size}]=b.npy, c: "
            f"f32[{SIZE * SIZE}], {SIZE}, {DEPTH})"
        )
        _, results = run_file(source, launch, chip_name=str(chip))
        found[name] = results.launches[0]
    return found


@pytest.mark.long
def test_more_stages_are_faster(ladder):
    """The first stage that is ahead hides most of the way to memory; the second what is left."""
    one, two, three = (ladder[name].timing.cycles for name in ("one stage", "two stages", "three stages"))
    assert one > 1.3 * two and two > three


@pytest.mark.long
def test_the_tensor_pipe_is_as_full_as_it_can_be(ladder):
    """4 warps, each 16 multiplications of 8 cycles for 32 of k: never more than all of the time, and without a stage
    ahead much less.
    """
    busy = DEPTH // 32 * 16 * 8
    share = {name: busy / result.timing.cycles for name, result in ladder.items()}
    assert share["one stage"] < 0.35 and share["one stage"] < share["two stages"] < share["three stages"] < 0.9


def test_padded_rows_have_no_bank_conflicts(ladder):
    """Rows of 64 and 128 bytes put rows of a matrix into the same banks; 16 bytes more spread them over all, and leave
    a pass too many to copies of two rows of 80 bytes at once. The counters show it."""

    def passes(name):
        counters = ladder[name].counters
        return int(counters.l1_wavefronts_shared.sum()), int(counters.l1_wavefronts_shared_ideal.sum())

    used, ideal = passes("three stages")
    assert ideal < used < 1.2 * ideal
    used, ideal = passes("unpadded")
    assert used > 3 * ideal / 2
    assert ladder["unpadded"].timing.cycles > 1.1 * ladder["three stages"].timing.cycles
