"""What stages of a draw give each other stays on the chip: cycles by hand, and those of the readable twin."""

import random

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.causes import CONFLICT
from gpuprof.isa.encoding import RZ, encode
from tests.readable.blame import causes_of
from tests.readable.timing import ledger_of, recorded_stalls, stalls_of, time_launch
from tests.support.timing_support import COUNTED, access, launch, make, run, warp
from tests.timing.test_timing import A64, ffma, rows


@pytest.fixture
def chip(tmp_path):
    path = tmp_path / "chip.toml"
    path.write_text(f'inherits = "a100"\nsms = 1\n{COUNTED}')
    return load_chip(path)


NOTHING = ("l1_sectors", "l2_sectors", "dram_read_nbytes", "dram_write_nbytes")


@pytest.mark.parametrize("load", ["LDG.32", "LD.32"])
@pytest.mark.parametrize("ways", [1, 2, 8])
def test_a_load_takes_as_long_as_one_of_shared_memory(chip, load, ways):
    """23 cycles and 2 for each conflict, of which the next instruction waits for all but one; no cache is asked."""
    code = [make(load, dst=0, a=1, mods=A64), ffma(1, 0), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(wavefronts=ways, on_chip=True)])])
    assert chip.latency["shared"] == 23
    assert rows(timing)[1] == {"selected": 1, "short_scoreboard": 23 + 2 * (ways - 1) - 1}
    assert timing.shared_wavefronts == ways
    assert [getattr(timing, name) for name in NOTHING] == [0] * len(NOTHING)
    assert (1, "short_scoreboard", "shared", 0, CONFLICT * (ways > 1)) in causes_of(timing)


def test_colors_keep_the_load_store_unit_for_a_quarter_warp_a_cycle(chip):
    """16 bytes a lane are four passes: the second store is served four cycles behind the first, and nothing waits for
    either where the warp ends. Into memory they would go to the L2, which the warp's end waits for.
    """
    code = [make("STG.V4.32", a=1, b=4, mods=A64)] * 2 + [make("EXIT")]
    stores = {
        place: [access(range(16 * n, 16 * n + 16) if place == "memory" else (), wavefronts=4, on_chip=place == "chip")
                for n in range(2)]
        for place in ("chip", "memory")
    }  # fmt: skip
    (on_chip, _), (stored, _) = (run(chip, code, [warp([0], stores[place])]) for place in ("chip", "memory"))
    assert (on_chip.shared_wavefronts, on_chip.l2_sectors) == (8, 0)
    assert (stored.shared_wavefronts, stored.l2_sectors) == (0, 32)
    assert rows(on_chip)[1:] == [{"selected": 1}, {"selected": 1}]
    assert "drain" in rows(stored)[2]


@pytest.mark.parametrize("seed", range(3))
def test_the_readable_twin_agrees(chip, seed):
    """Loads and stores of all widths, of which some stay on the chip and others do not, in many warps."""
    rng = random.Random(seed)
    names = ["LDG.32", "LDG.64", "LDG.V4.32", "LD.32", "STG.32", "STG.V4.32", "ST.32", "LDS.32"]
    picked = [rng.choice(names) for _ in range(12)]
    code = [
        each
        for name in picked
        for each in (
            make(name, **({"b": 4} if name.startswith("ST") else {"dst": 4}), a=1, mods=0 if name == "LDS.32" else A64),
            ffma(8, rng.choice((4, 8))),
        )
    ] + [make("EXIT")]  # fmt: skip

    def some(name):
        stays = rng.random() < 0.6 and name != "LDS.32"
        sectors = () if stays or name == "LDS.32" else rng.sample(range(64), rng.choice((4, 8)))
        return access(sectors, wavefronts=rng.choice((1, 2, 4, 9)), on_chip=stays, lanes=rng.choice((32, 32, 7)))

    warps = [warp([0], [some(name) for name in picked]) for _ in range(24)]
    timing, _ = run(chip, code, warps, warps_per_block=2)
    job = launch(encode(code))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 64, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert timing.end_cycle == twin.end


def test_a_constant_of_no_lane_behind_a_full_queue(chip):
    """It comes to the queue without waiting for it, so the queue is not busy twice: cycles are charged once."""
    stores = [make("STG.V4.32", a=1, b=4, mods=A64)] * 8
    code = [*stores, make("LDC.32", dst=8, a=RZ), *stores, make("EXIT")]
    color, nobody = access(wavefronts=4, on_chip=True), access(lanes=0, wavefronts=0)
    warps = [warp([0], [*[color] * 8, nobody, *[color] * 8]) for _ in range(16)]
    timing, _ = run(chip, code, warps)
    job = launch(encode(code))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32, warps)
    assert ledger_of(timing) == dict(twin.ledger)
