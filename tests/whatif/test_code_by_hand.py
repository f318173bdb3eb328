"""Interventions that change a program together with its trace, on launches written by hand."""

import pytest

from gpuprof.isa.encoding import make
from gpuprof.timing.state.static_program import BARRIER, FOLDED, GLOBAL, PLAIN, SHARED
from tests.support.timing_support import access, warp
from tests.timing.test_timing import A64, ffma
from tests.whatif.hand import LOOP, after, at, cycles, rows, sector_rows, shape, subject, turns

LOAD, EXIT = make("LDG.32", dst=0, a=8, mods=A64), make("EXIT")


@pytest.fixture
def chip(chip_of):
    return chip_of('inherits = "a100"\nsms = 1\n')


def kinds(scene, block):
    first, end = scene.program.block[block : block + 2]
    return scene.program.inst["kind"][first:end].tolist()


def deps(scene, inst):
    row = scene.program.inst[inst]
    return scene.program.dep[row["first_dep"] : row["first_dep"] + row["n_deps"]].tolist()


def test_loads_of_what_was_loaded_before(chip):
    """The third turn loads what the first has loaded: it runs a copy of the loop without the load."""
    scene = after(chip, LOOP, [turns(8, 9, 8)], at("loaded_once", 0))
    assert rows(scene.pieces[0]) == [([0, 0, 2, 1], [8, 9])]
    assert kinds(scene, 0) == [GLOBAL, PLAIN] and kinds(scene, 2) == [FOLDED, PLAIN]


def test_second_load_of_a_sector_hits(chip):
    """Not all loads of the basic block can do without."""
    code = [LOAD, LOAD, LOAD, EXIT]
    accesses = [access([8, 9]), access([9, 10]), access([8, 10])]
    scene = after(chip, code, [warp([0], accesses)], at("loaded_once", 0, 1, 2))
    assert sector_rows(scene.pieces[0]) == [[8, 9], [10], []]
    assert rows(scene.pieces[0])[0][0] == [0]


def test_loads_of_two_turns_first(chip):
    """Four turns of a loop that adds up what it loads take as long as two of one that is unrolled by hand: a comparison
    and a branch for both loads, whose values have registers of their own.
    """
    compare, given = make("ISETP.S32", dst=0, a=9, b=9), [access([k << 20]) for k in range(4)]
    first, second = (make("FFMA", dst=4, a=value, b=20, c=4) for value in (2, 0))
    code = [LOAD, second, compare, make("BRA", guard=0, imm=-64 & 0xFFFFFFFF), EXIT]
    rolled = subject(chip, code, [warp([0, 0, 0, 0, 1], given)])
    other = make("LDG.32", dst=2, a=8, mods=A64)
    code = [other, LOAD, first, second, compare, make("BRA", guard=0, imm=-96 & 0xFFFFFFFF), EXIT]
    unrolled = subject(chip, code, [warp([0, 0, 1], given)])
    jump = 1  # cycle more: the copy is not in front of the exit
    assert cycles(rolled, at("loads_first", 0, amount=2)) == cycles(unrolled) + jump < cycles(rolled) - 500


def test_turns_of_other_lanes_are_no_group(chip):
    """The last of three turns has fewer lanes: it stays as it is, and the first two are one."""
    masks = [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFF, 0xFFFFFFFF]
    some = warp([0, 0, 0, 1], [access([k]) for k in range(3)], masks)
    scene = after(chip, LOOP, [some], at("loads_first", 0, amount=2))
    assert rows(scene.pieces[0]) == [([2, 0, 1], [0, 1, 2])]
    assert kinds(scene, 2) == [GLOBAL, GLOBAL, PLAIN]


def test_accesses_go_with_their_instructions(chip):
    """Two turns of a load and a store: both loads, and then both stores."""
    code = [LOAD, make("STG.32", a=8, b=0, mods=A64), make("BRA", guard=0, imm=-48 & 0xFFFFFFFF), EXIT]
    scene = after(chip, code, [warp([0, 0, 1], [access([k]) for k in range(4)])], at("loads_first", 0, amount=2))
    assert sector_rows(scene.pieces[0]) == [[0], [2], [1], [3]]


# A word of local memory of a warp: a line.
WORD = [access([4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3]) for k in range(3)]
STORED, LOADED = make("STL.32", a=9, b=0), [make("LDL.32", dst=2 + k, a=9) for k in range(2)]
GIVEN = [access([1 << 20]), access([2 << 20])]


def test_spilled_registers(chip):
    """Two loads whose values are spilled take as long as two that have registers of their own: one waits for the other
    no longer.
    """
    code = [LOAD, STORED, LOAD, STORED, *LOADED, ffma(4, 2), ffma(4, 3), EXIT]
    accesses = [GIVEN[0], WORD[0], GIVEN[1], WORD[1], WORD[0], WORD[1]]
    spilled = subject(chip, code, [warp([0], accesses)])
    other = make("LDG.32", dst=1, a=8, mods=A64)
    expected = subject(chip, [LOAD, other, ffma(4, 0), ffma(4, 1), EXIT], [warp([0], GIVEN)])
    assert cycles(spilled, at("in_registers", *range(8))) == cycles(expected) < cycles(spilled) - 500


def test_words_of_local_memory_chosen_at_run_time(chip):
    """A store to word 0 in one turn and to word 2 in the next is two selects, each of which reads and writes one; the
    load is always of word 1.
    """
    code = [STORED, LOADED[0], make("BRA", guard=0, imm=-48 & 0xFFFFFFFF), EXIT]
    accesses = [WORD[0], WORD[1], WORD[2], WORD[1]]
    scene = after(chip, code, [warp([0, 0, 1], accesses)], at("in_registers", 0, 1))
    assert kinds(scene, 0) == [PLAIN, FOLDED, PLAIN]
    assert scene.program.inst["slots"][0] == 2
    r0, r2, r9, _p0, *words = range(7)  # scoreboard numbers: of all registers, and then of the words
    assert deps(scene, 0) == [r9, r0, words[0], words[2], words[0], words[2]]
    assert deps(scene, 1) == [r9, words[1], r2]
    assert len(scene.pieces[0].accesses) == 0


def test_tiles_of_a_block(chip):
    """Two warps load the same line in each of four turns. A load of each of them fills a tile of two lines, the first
    warp's the first of them.
    """
    lines = [list(range(4 * k, 4 * k + 4)) for k in range(4)]
    warps = [warp([0, 0, 0, 0, 1], [access(line) for line in lines])] * 2
    scene = after(chip, LOOP, warps, at("tiled", 0, amount=1), 2)
    steps = [2, 0, 2, 0, 1]
    assert rows(scene.pieces[0]) == [(steps, lines[0] + lines[2]), (steps, lines[1] + lines[3])]
    assert kinds(scene, 0) == [SHARED, PLAIN]
    assert kinds(scene, 2) == [BARRIER, GLOBAL, SHARED, BARRIER, SHARED, PLAIN]


def test_neighbouring_words_of_a_tile_come_together(chip):
    """Two loads of a loop that take the same sectors in every turn. Their 32 lanes agree in fours."""
    code = [LOAD, make("LDG.32", dst=1, a=8, mods=A64), make("BRA", guard=0, imm=-48 & 0xFFFFFFFF), EXIT]
    warps = [warp([0, 0, 1], [access([k]) for k in (3, 3, 5, 5)])]
    scene = after(chip, code, warps, at("tiled", 0, 1, amount=1))
    assert kinds(scene, 0) == [SHARED, FOLDED, PLAIN]
    assert scene.program.inst["width"][0] == 2
    # The tile of both turns: its load and its store; and a load in each turn, of half the passes of two words.
    assert sector_rows(scene.pieces[0]) == [[3, 5], [], [], []]
    assert scene.pieces[0].accesses["wavefronts"].tolist() == [1, 1, 1, 1]


def test_one_warp_for_two(chip):
    """A block of two warps becomes one of one: what is chosen takes twice the passes, and what is computed of it twice
    the slots.
    """
    code = [make("LDS.32", dst=0, a=8), make("LDS.32", dst=1, a=8), ffma(2, 0), ffma(3, 1), EXIT]
    warps = [warp([0], [access(), access(wavefronts=2)])] * 2
    scene = after(chip, code, warps, at("merged", 1, amount=2), 2)
    assert shape(scene.pieces[0]) == (1, 1)
    assert scene.pieces[0].accesses["wavefronts"].tolist() == [1, 4]
    assert scene.program.inst["slots"].tolist() == [1, 1, 1, 2, 1]


def test_warps_that_differ_are_not_merged(chip):
    scene = after(chip, LOOP, [turns(1), turns(2, 3)], at("merged", 0, amount=2), 2)
    assert shape(scene.pieces[0]) == (1, 2)
