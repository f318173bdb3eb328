"""The two banks of the register file, and what the reuse cache saves them."""

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.isa.program import MOST_WORDS
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.state.register_reads import register_reads
from tests.readable.timing import ledger_of, time_launch
from tests.support.timing_support import launch, make, run, warp


def ffma(dst, a, b, c):
    return make("FFMA", dst=dst, a=a, b=b, c=c)


def dfma(dst, a, b, c):
    return make("DFMA", dst=dst, a=a, b=b, c=c)


def held(name, code, n_warps=1):
    """Cycles of dispatch_stall in all, of warps of one partition."""
    timing, _ = run(load_chip(name), code, [warp([0])] * n_warps, warps_per_block=1)
    return int(timing.ledger[:, INDEX["dispatch_stall"]].sum())


@pytest.mark.parametrize(("x", "y", "wanted"), [(19, 21, 0), (18, 21, 1), (18, 20, 2)])
def test_two_multiply_adds_as_published(x, y, wanted):
    """Huerta et al., MICRO 2025, listing 1, on an RTX A6000: FFMA R11, R10, R12, R14 and FFMA R13, R16, x, y, with a
    read of the clock before and behind, take 5 cycles with R19 and R21, 6 with R18 and R21, 7 with R18 and R20.
    """
    assert held("rtx3090", [ffma(11, 10, 12, 14), ffma(13, 16, x, y), make("EXIT")]) == wanted


FOUR = (20, 24, 28, 32)


@pytest.mark.parametrize(
    ("chip", "code", "wanted"),
    [
        # Two words of the even bank each: the first two are read behind the third, which the next one waits for, and so
        # on to EXIT.
        ("rtx3090", [ffma(k, FOUR[k % 4], FOUR[k % 4] + 2, FOUR[k % 4] + 1) for k in range(16)], 14),
        # The reuse cache has the second.
        ("rtx3090", [ffma(k, FOUR[k % 4], 22, FOUR[k % 4] + 1) for k in range(16)], 0),
        # It has it for the same place only.
        ("rtx3090", [ffma(k, *((22, 20)[:: 1 - 2 * (k % 2)]), FOUR[k % 4] + 1) for k in range(16)], 14),
        # A pipe of 16 lanes leaves two cycles for each.
        ("a100", [ffma(k, FOUR[k % 4], FOUR[k % 4] + 2, FOUR[k % 4] + 1) for k in range(16)], 0),
        # Three words of one bank take three: the second holds the third up for one cycle, then each the next for two,
        # of which the warp waits one for its own pipe.
        ("a100", [ffma(k, FOUR[k % 4], FOUR[k % 4] + 2, 36 + FOUR[k % 4]) for k in range(16)], 1 + 14),
        # Three pairs are three words of each bank: 3 cycles for each DFMA, where the pipe would take two.
        ("h100", [dfma(k, 20 + 2 * (k % 2), 24 + 2 * (k % 2), 28 + 2 * (k % 2)) for k in range(16)], 1 + 14),
        # The reuse cache has one pair of three.
        ("h100", [dfma(k, 20, 24, 28 + 2 * (k % 2)) for k in range(16)], 0),
    ],
)
def test_a_bank_reads_a_word_a_cycle(chip, code, wanted):
    assert held(chip, [*code, make("EXIT")]) == wanted


def test_words_that_are_read():
    """(even, odd) words, and what is left of them behind the instruction before."""
    code = [
        ffma(0, 2, 4, 5),
        ffma(1, 2, 6, 5),
        make("DADD", dst=4, a=5, b=6),
        make("IADD", dst=3, a=2, imm=7, slot="b"),
        make("LDS.32", dst=8, a=2),
        ffma(2, 2, 6, 5),
        ffma(2, 2, 6, 5),
    ]
    starts = frozenset((0, 6))
    wanted = [(2, 1, 2, 1), (2, 1, 1, 0), (2, 2, 2, 2), (1, 0, 1, 0), (0, 0, 0, 0), (2, 1, 2, 1), (2, 1, 2, 1)]
    assert [tuple(row) for row in register_reads(code, starts, [MOST_WORDS] * 7, False)] == wanted
    wanted[2] = (0, 0, 0, 0)  # an fp64 unit of all partitions reads its operands later
    assert [tuple(row) for row in register_reads(code, starts, [MOST_WORDS] * 7, True)] == wanted
    # With R5, R6, ... uniform ones, whose words are in neither bank.
    wanted = [(2, 0, 2, 0), (1, 0, 0, 0), (0, 0, 0, 0), (1, 0, 1, 0), (0, 0, 0, 0), (1, 0, 1, 0), (1, 0, 1, 0)]
    assert [tuple(row) for row in register_reads(code, starts, [5] * 7, True)] == wanted


@pytest.mark.parametrize(("registers", "wanted"), [(24, 2), (22, 1)])
def test_uniform_registers_are_in_no_bank(registers, wanted):
    """R18 and R20 above: where a thread has 20 registers beside its program counter, R20 is a uniform one."""
    code = [ffma(11, 10, 12, 14), ffma(13, 16, 18, 20), make("EXIT")]
    chip, words = load_chip("rtx3090"), {"registers": registers, "r_count": 21}
    timing, _ = run(chip, code, [warp([0])], **words)
    assert int(timing.ledger[:, INDEX["dispatch_stall"]].sum()) == wanted
    job = launch(encode(code), **words)
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32, [warp([0])])
    assert ledger_of(timing) == dict(twin.ledger)
