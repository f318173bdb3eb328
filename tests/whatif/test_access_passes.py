"""Changes of accesses, which are compiled, against readable twins, on random traces."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from gpuprof.isa.encoding import make
from gpuprof.timing.piece_accesses import positions
from gpuprof.timing.state.layout import SECTOR_NBYTES
from gpuprof.whatif.changes.on_accesses import packed, read_once
from gpuprof.whatif.changes.whole_trace import with_sectors, without_accesses
from tests.support.timing_support import access, warp
from tests.whatif.hand import sector_rows, subject, warps_of

A64 = 1 << 6
# Blocks: a load and an addition; two loads; the end.
CODE = [
    make("LDG.32", dst=0, a=2, mods=A64), make("IADD", dst=1, a=1, b=1), make("BRA", guard=0, imm=0),
    make("LDG.32", dst=0, a=2, mods=A64), make("LDG.32", dst=1, a=2, mods=A64),
    make("BRA", guard=0, imm=-48 & 0xFFFFFFFF),
    make("EXIT"),
]  # fmt: skip
LOADS_OF = {0: [0], 1: [3, 4], 2: []}
ALL = np.ones(len(CODE), np.bool_)


def random_subject(chip_of, seed):
    """Warps of up to six turns, whose loads have sectors of a few lines, so that they meet; far apart, by powers of
    two, as columns of a matrix are."""
    random = np.random.default_rng(seed)

    def load():
        rows = random.integers(0, 12, int(random.integers(0, 20)))
        return access({int(row) << 12 | int(random.integers(0, 4)) for row in rows}, lanes=int(random.integers(1, 33)))

    def one():
        blocks = [*random.integers(0, 2, int(random.integers(1, 7))).tolist(), 2]
        return warp(blocks, [load() for block in blocks for _ in LOADS_OF[block]])

    return subject(chip_of('inherits = "a100"\nsms = 2\n'), CODE, [one() for _ in range(24)], 3)


@pytest.fixture(params=range(4))
def scene(request, chip_of):
    some = random_subject(chip_of, request.param)
    return some.machine.programs.of(some.launch.module), some.trace[0]


def accesses_of(piece):
    return [(record, sectors) for _, some, _ in warps_of(piece) for record, sectors in some]


def test_origins(scene):
    program, piece = scene
    blocks = [(warp, block) for warp, (blocks, _, _) in enumerate(warps_of(piece)) for block in blocks]
    expected = [(step, warp, inst) for step, (warp, block) in enumerate(blocks) for inst in LOADS_OF[block]]
    at = positions(piece, program)
    assert list(zip(at.step.tolist(), at.warp.tolist(), at.inst.tolist(), strict=True)) == expected


def test_accesses_left_out(scene):
    _, piece = scene
    dropped = np.random.default_rng(1).random(len(piece.accesses)) < 0.4
    left = without_accesses(piece, dropped)
    marks = iter(dropped.tolist())
    expected = [(blocks, [each for each in some if not next(marks)], masks) for blocks, some, masks in warps_of(piece)]
    assert warps_of(left) == expected
    assert np.diff(left.sector_start).tolist() == [sum(len(s) for _, s in some) for _, some, _ in expected]


def test_accesses_with_other_sectors(scene):
    """Every moved access has one sector more than it had."""
    _, piece = scene
    moved = np.random.default_rng(2).random(len(piece.accesses)) < 0.4
    accesses = piece.accesses.copy()
    accesses["n_sectors"][moved] += 1
    given = np.arange(int(accesses["n_sectors"][moved].sum())) + 10_000_000
    new = iter(given.tolist())
    expected = [
        [next(new) for _ in range(len(before) + 1)] if is_moved else before
        for before, is_moved in zip(sector_rows(piece), moved.tolist(), strict=True)
    ]
    found = with_sectors(piece, accesses, moved, given)
    assert sector_rows(found) == expected
    assert np.diff(found.sector_start).tolist() == [sum(len(s) for _, s in some) for _, some, _ in warps_of(found)]


def test_lines_that_were_taken_least(scene):
    program, piece = scene
    uses, expected = Counter(), []
    for record, sectors in accesses_of(piece):
        ideal, found = -(-record[4] * 4 // SECTOR_NBYTES), []
        if len(sectors) <= ideal:
            expected.append(sectors)
            continue
        lines = sorted({sector // 4 for sector in sectors})
        while len(found) < ideal:
            line = min(lines, key=lambda each: uses[each])
            turn = uses[line] * ideal if ideal < 4 else 0
            found += [4 * line + (turn + k) % 4 for k in range(min(4, ideal - len(found)))]
            uses[line] += 1
        expected.append(sorted(found))
    assert sector_rows(packed(program, piece, ALL)) == expected
    assert sum(uses.values()) > 20


def test_sectors_that_a_warp_loads_first(scene):
    program, piece = scene
    expected = []
    for _, some, _ in warps_of(piece):
        seen = defaultdict(bool)
        for _, sectors in some:
            expected.append([sector for sector in sectors if not seen[sector]])
            seen.update(dict.fromkeys(sectors, True))
    assert sector_rows(read_once(program, piece, ALL)) == expected
    assert sum(map(len, expected)) < len(piece.sectors)
