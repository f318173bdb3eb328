"""Random sequences of calls, in the program and in the model."""

import os
import random

import pytest

from tests.program.errors.sequences import first_wrong
from tests.program.hosts import WHY_NOT

IS_LONG = bool(os.environ.get("GPUPROF_FUZZ"))


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.parametrize("seed", range(20) if IS_LONG else [1])
def test_fuzz_sequences_of_calls(seed):
    if IS_LONG:
        seed = random.SystemRandom().randrange(1 << 30)
    wrong = first_wrong(300 if IS_LONG else 60, seed)
    assert not wrong, wrong
