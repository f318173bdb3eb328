"""Asynchronous copies: a warp waits for the groups it asks for, and only at its wait; the readable twin agrees cycle
for cycle.
"""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.isa.modifiers import pack
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.sampling.configuration import Sampling
from tests.readable.blame import causes_of
from tests.readable.timing import ledger_of, recorded_stalls, stalls_of, time_launch
from tests.support.matrices import long_from
from tests.support.timing_support import access, launch, make, run, warp

A64 = 1 << 6
CG = pack(cache="cg")
LONG = INDEX["long_scoreboard"]


@pytest.fixture
def chip(tmp_path: Path):
    path = tmp_path / "chip.toml"
    path.write_text('inherits = "a100"\nsms = 1\nblock_launch_cycles = 100\n')
    return load_chip(path)


def copy(mods: int = 0):
    return make("CP.ASYNC.16", a=1, b=9, mods=A64 | mods)


COMMIT = make("CP.ASYNC.COMMIT")


def wait(newest: int):
    return make("CP.ASYNC.WAIT", imm=newest)


def test_the_wait_holds_until_the_copy_has_landed(chip):
    """A load waited for by its user and a copy waited for by its group take the same time from the same place."""
    copied, _ = run(chip, [copy(), COMMIT, wait(0), make("EXIT")], [warp([0], [access([1, 2])])])
    loaded, _ = run(
        chip,
        [make("LDG.32", dst=0, a=1, mods=A64), make("NOP"), make("FADD", dst=2, a=0, b=0), make("EXIT")],
        [warp([0], [access([1, 2])])],
    )
    assert copied.ledger[2, LONG] == loaded.ledger[2, LONG] > 300
    assert copied.ledger[:2, LONG].sum() == 0


def test_the_newest_groups_are_not_waited_for(chip):
    """Two groups, the first in the L1 already: waiting for all but one takes a hit, waiting for all a miss."""
    code = [copy(), COMMIT, wait(0), copy(), COMMIT, copy(), COMMIT, wait(1), wait(0), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access([1]), access([1]), access([900])])])
    hit, miss = timing.ledger[7, LONG], timing.ledger[8, LONG]
    assert 10 < hit < 60 and miss > 250


def test_what_nobody_waits_for_costs_nothing(chip):
    """Copies that were not committed are in no group, and a program without copies may commit and wait."""
    timing, _ = run(chip, [copy(), wait(0), make("EXIT")], [warp([0], [access([1])])])
    assert timing.ledger[:, LONG].sum() == 0
    timing, _ = run(chip, [COMMIT, wait(0), make("EXIT")], [warp([0])])
    assert timing.ledger[:, LONG].sum() == 0


@pytest.mark.parametrize("seed", long_from(1, range(4)))
def test_twin_of_random_pipelines(chip, seed):
    """Loops of copies, hits and misses mixed, with one to four groups on their way."""
    random = np.random.default_rng(seed)
    body = [copy(CG if random.random() < 0.5 else 0) for _ in range(3)]
    body[1:1] = (
        [COMMIT]
        if seed % 2
        else [make("LDG.32", dst=4, a=1, mods=A64), make("PACK.64", dst=3, a=4, b=5), make("LO.64", dst=6, a=3)]
    )
    body += [COMMIT, wait(int(random.integers(0, 4))), make("LDS.32", dst=2, a=9), make("FADD", dst=3, a=2, b=3)]
    code = [
        make("NOP"),
        make("BRA", imm=0),
        *body,
        make("BRA", guard=0, imm=-16 * (len(body) + 1)),
        wait(0),
        make("EXIT"),
    ]
    warps = []
    for _ in range(12):
        times = int(random.integers(2, 14))
        accesses = []
        for _ in range(times):
            for inst in body:
                if inst.op.name.startswith("LDS"):
                    accesses.append(access((), wavefronts=int(random.integers(1, 4))))
                elif inst.op.space:
                    accesses.append(access(set(random.integers(0, 60, int(random.integers(1, 9))).tolist())))
        warps.append(warp([0, *[1] * times, 2], accesses))
    timing, records = run(
        chip, code, warps, warps_per_block=2, sampling=Sampling(32, "all", fifo_depth=24, drain_cycles=3)
    )
    job = launch(encode(code))
    twin = time_launch(
        chip,
        job.module.code,
        job.module.load_base,
        job.function,
        64,
        warps,
        period=32,
        every_warp=True,
        fifo_depth=24,
        drain=3,
    )
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert (timing.end_cycle, timing.issue_slots) == (twin.end, twin.counts["issue_slots"])
    assert (timing.l1_hits, len(records)) == (twin.counts["l1_hits"], len(twin.samples))
