"""Random kernels compute the same whichever way they are assembled. GPUPROF_FUZZ=1 (`make fuzz`) tries many more."""

import os

import pytest

from tests.fuzz.ptx_differential import WAYS, assembled, differences, result
from tests.fuzz.ptx_mixes import Mix, memory_image

N_KERNELS = 2000 if os.environ.get("GPUPROF_FUZZ") else 4


@pytest.mark.parametrize("seed", range(2))
def test_fuzz_every_way_to_assemble_computes_the_same(seed):
    for number in range(N_KERNELS // 2):
        mix = Mix(f"test {seed}:{number}", 12 + 20 * (number % 5), share_of_memory=0.2)
        assert differences(mix.text(), memory_image(number)) == {}, mix.text()


def test_the_ways_are_different_code():
    """Or the comparison would prove nothing."""
    text = Mix("ways", 150).text()
    programs = {way: assembled(text, way) for way in WAYS}
    assert len({program.code.tobytes() for program in programs.values()}) == len(WAYS)
    assert {way for way, program in programs.items() if program.functions[-1].spill_nbytes} >= {
        "40 registers",
        "24 registers",
        "plain, 32 registers",
    }


def test_a_difference_is_seen():
    text, image = Mix("seen", 20).text(), memory_image(0)
    assert result(assembled(text, "all"), image) != result(
        assembled(text.replace("and.b16 %byte, %byte, 1", "and.b16 %byte, %byte, 2"), "all"), image
    )
