"""What of draws' targets the L2 of another chip holds: by cases computed by hand, and beside the simulated caches."""

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.correlate.database import reading
from gpuprof.predict.chip_numbers import Numbers, numbers_of
from gpuprof.predict.draws.targets import Extent, TargetReuse, UnitBytes, target_reuse, target_traffic
from gpuprof.predict.recorded import read_recorded
from tests.draws.frames import OnGpuprof, large_target
from tests.prediction.draws.truth import traced

TESTED, COVERED = {"depth_nbytes": 800, "n_samples": 100}, {"written_nbytes": 800, "n_written": 100}
BLENDED = {"written_nbytes": 1600, "n_written": 100}


def test_bytes_of_targets():
    """Pass 0 has 100 samples of 4 + 8 bytes; the second draw touches half of the colors, the third all of them. Pass 1
    has 400 samples.
    """
    written = UnitBytes(0, 800, 0, 0)
    nbytes = [
        {"depth": UnitBytes(400, 400, 0, 0), "write": written, "fetch": UnitBytes(32, 0, 32, 0)},
        {"write": UnitBytes(400, 400, 0, 0), "depth": UnitBytes(0, 0, 0, 0)},
        {"write": UnitBytes(1600, 1600, 0, 0)},  # sectors of two draws' rims, and more than the target has
        {"write": written},
    ]
    extents = [Extent(0, 100)] * 3 + [Extent(1, 400)]
    assert target_reuse(extents, nbytes, [TESTED | COVERED, BLENDED, BLENDED, COVERED]) == [
        TargetReuse({"depth": 400, "write": 800}, {"depth": 0, "write": 0}, 0, 1200),
        TargetReuse({"write": 0}, {"write": 400}, 1200, 800),
        TargetReuse({"write": 0}, {"write": 800}, 1200, 800),
        TargetReuse({"write": 800}, {"write": 0}, 1200, 800),
    ]


def chips(*l2_nbytes):
    found = numbers_of([load_chip("rtx3090")] * len(l2_nbytes))
    return Numbers(found.names, found.archs, found.columns | {"l2_nbytes": np.array(l2_nbytes, float)})


@pytest.mark.parametrize(
    "reuse, nbytes, read, written",
    [
        # The first draw of a pass: 1,200 bytes come. Of 1,000 in the L2 200 are too many; of 500, 700; of 4,000 none.
        (TargetReuse({"depth": 400, "write": 800}, {"depth": 0, "write": 0}, 0, 1200),
         {"depth": UnitBytes(400, 400, 400, 0), "write": UnitBytes(0, 800, 0, 200)}, {"depth": [0, 0, 0]},
         [0, 500, -200]),
        # The next one finds all where there is room for the pass. Where it is full, one goes for each that comes.
        (TargetReuse({"write": 0}, {"write": 800}, 1200, 1200), {"write": UnitBytes(800, 800, 800, 800)},
         {"write": [0, 0, -800]}, [0, 0, -800]),
        # No more than there was: half of what comes again was found there after all.
        (TargetReuse({"write": 0}, {"write": 800}, 1200, 1200), {"write": UnitBytes(800, 800, 400, 300)},
         {"write": [0, 0, -400]}, [0, 0, -300]),
        # Depths that are only compared leave nothing to write: a third of what leaves.
        (TargetReuse({"depth": 400, "write": 800}, {"depth": 0, "write": 0}, 0, 1200),
         {"depth": UnitBytes(400, 0, 400, 0), "write": UnitBytes(0, 800, 0, 150)}, {"depth": [0, 0, 0]},
         [0, 500 * 2 / 3, -200 * 2 / 3]),
        (TargetReuse(), {"fetch": UnitBytes(32, 0, 32, 0)}, {}, [0, 0, 0]),
    ],
)  # fmt: skip
def test_traffic_on_other_chips(reuse, nbytes, read, written):
    """L2s of 1,000 bytes on the reference chip, 500, and 4,000."""
    found = target_traffic(reuse, nbytes, chips(1000, 500, 4000))
    assert {unit: more.tolist() for unit, more in found.read.items()} == read
    assert found.written.tolist() == pytest.approx(written)


@pytest.mark.long
def test_beside_simulated_caches(tmp_path):
    """A target of 0.8 MB, with depths of 0.4, on chips with L2s of 0.5 MB, recorded, and of 0.25, 1, 1.25 and 4."""
    base = load_chip("rtx3090")
    sizes = (512 << 10, 256 << 10, 1 << 20, 1280 << 10, 4 << 20)
    made = [replace(altered(base, {"l2_nbytes": nbytes}, ""), name=f"l2-{nbytes}") for nbytes in sizes]
    there, *others = (_recorded(chip, tmp_path) for chip in made)
    for draw, *same in zip(there, *others, strict=True):
        more = target_traffic(draw.targets, draw.nbytes, numbers_of(made))
        asked = sum(each.l2_read_nbytes + each.l2_write_nbytes for each in draw.nbytes.values())
        for place, other in enumerate(same, 1):
            predicted = _dram(draw) + sum(of_unit[place] for of_unit in more.read.values()) + more.written[place]
            assert abs(predicted - _dram(other)) < 0.04 * asked, (draw.name, made[place].name)


def _recorded(chip, folder):
    traced(lambda gpu: large_target(OnGpuprof(gpu), 320), chip, folder / "f.gprec")
    with reading(folder / "f.gprec") as database:
        return read_recorded(database).draws


def _dram(draw) -> int:
    return sum(each.dram_read_nbytes + each.dram_write_nbytes for each in draw.nbytes.values())
