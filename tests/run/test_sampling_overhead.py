"""Records that leave through the load/store unit: how they are in a kernel's way, and that what this costs is told
exactly.
"""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.errors import UsageError
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device
from gpuprof.tables.launch import LOSSES
from gpuprof.timing.sampling.configuration import Sampling
from tests.support.timing_support import COUNTED, access, make, run, warp

# Gathers, so that the L1 misses and the L2 is full; the blocks take tickets, whose order depends on which block is
# emulated first.
SOURCE = """
__device__ int ticket;
__global__ void gather(const float *x, float *y, int *order, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) order[blockIdx.x] = atomicAdd(&ticket, 1);
  float sum = 0;
  for (int k = 0; k < 12; k++) sum += x[(i * 33 + k * 257) % n];
  y[i] = sum;
}
"""
SMALL = "sms = 2\nl2_nbytes = 32768\nwarp_slots = 16\nmax_blocks = 4\nblock_launch_cycles = 100\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disturbance")
    (folder / "gather.cu").write_text(SOURCE)
    (folder / "small.toml").write_text(f'inherits = "a100"\n{SMALL}')
    (folder / "quick.toml").write_text(
        'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_far_cycles = 206\n' + COUNTED
    )
    return folder


class Results(Observer):
    def __init__(self):
        self.all = []

    def finished(self, result) -> None:
        self.all.append(result)


def gathered(folder: Path, sampling: Sampling, **settings) -> tuple[list, list[np.ndarray]]:
    """Two launches in flight together, and a third one: their results, and what is in memory then."""
    results = Results()
    gpu = open_device(Settings(chip=load_chip(folder / "small.toml"), sampling=sampling, observer=results, **settings))
    kernels = gpu.load(folder / "gather.cu")
    x = gpu.to_device(np.linspace(-1, 1, 8192, dtype=np.float32))
    y, order = gpu.device_array(4096, np.float32), gpu.device_array(64, np.int32)
    for stream in (gpu.stream(), gpu.stream()):
        kernels.gather[12, 64, stream](x, y, order, 8192)
    gpu.synchronize()
    kernels.gather[20, 64](x, y, order, 8192)
    return results.all, [y.copy_to_host(), order.copy_to_host()]


OFTEN = {"period_cycles": 32, "mode": "all", "fifo_depth": 64, "drain_cycles": 1}


@pytest.mark.long
def test_what_sampling_cost_is_exact(folder):
    """Each launch takes as long as without sampling, and the disturbance longer; and does what it would have done."""
    without, memory = gathered(folder, Sampling())
    beside, memory_beside = gathered(folder, Sampling(**OFTEN))
    through, memory_through = gathered(folder, Sampling(**OFTEN, stream="lsu"))
    assert [r.timing.cycles for r in without] == [r.timing.cycles for r in beside]
    assert [r.timing.disturbance_cycles for r in beside] == [0, 0, 0]
    assert [r.timing.cycles - r.timing.disturbance_cycles for r in through] == [r.timing.cycles for r in without]
    # Records also change the order in which warps come to memory, which may save a launch time.
    assert all(r.timing.disturbance_cycles for r in through)
    for found in (memory_beside, memory_through):
        assert all((a == b).all() for a, b in zip(found, memory, strict=True))
    for a, b in zip(without, through, strict=True):
        assert a.counters.inst_executed.tolist() == b.counters.inst_executed.tolist()
        assert b.timing.ledger.sum() == b.timing.resident_warp_cycles
        assert b.timing.samples_due == b.timing.samples_kept + b.timing.samples_dropped > 0
        assert b.timing.dram_write_nbytes > a.timing.dram_write_nbytes  # records are written back, too


def test_a_recording_says_it(folder, tmp_path):
    path = tmp_path / "r.gprec"
    with RecordWriter(path) as recorder:
        results, _ = gathered(folder, Sampling(**OFTEN, stream="lsu"), recorder=recorder)
    recording = read_recording(path)
    assert recording.meta["sampling"]["stream"] == "lsu"
    for result, launch in zip(results, recording.launches.values(), strict=True):
        assert launch.end["counters"]["disturbance_cycles"] == result.timing.disturbance_cycles
        assert launch.rows[LOSSES]["due"].sum() == launch.end["samples_due"]
        sm = launch.samples["stall_sm"] >> 22
        kept = launch.rows[LOSSES]["due"] - launch.rows[LOSSES]["dropped_fifo"] - launch.rows[LOSSES]["dropped_buffer"]
        assert kept.tolist() == [np.count_nonzero(sm == number) for number in launch.rows[LOSSES]["sm"]]


def test_all_blocks_must_be_timed(folder):
    with pytest.raises(UsageError, match="--sample-blocks"):
        open_device(Settings(sampling=Sampling(64, stream="lsu"), sample_blocks=True))


@pytest.mark.parametrize(
    "sleep, drain_cycles, waits", [(19, 1, 552), (19, 2, 551), (20, 1, 551), (20, 2, 552), (20, 3, 551)]
)
def test_a_store_delays_a_load(folder, sleep, drain_cycles, waits):
    """Counted by hand. A warp sleeps 19 ns, 27 cycles, from cycle 102 on, and then, in 129, loads; the next instruction
    waits 551 cycles for that.
    The sample of cycle 128 leaves the FIFO one cycle later, and takes the load/store unit in 129, before the load: that
    enters in 130, and the wait is one cycle longer. If the record leaves in 130 it is behind the load. After a sleep of
    20 ns, 28 cycles, all is one cycle later."""
    code = [
        make("NANOSLEEP", imm=sleep, slot="b"),
        make("LDG.32", dst=0, a=1, mods=1 << 6),
        make("FADD", dst=2, a=0, b=0),
        make("EXIT"),
    ]
    sampling = Sampling(128, "all", drain_cycles=drain_cycles, stream="lsu")
    timing, records = run(load_chip(folder / "quick.toml"), code, [warp([0], [access([4])])], sampling=sampling)
    assert timing.ledger[2].max() == waits
    assert records["cycle"].tolist() == [128, 256, 384, 512, 640]
    assert timing.l2_sectors == 1 + 5  # the load's, and one for each record


def test_a_full_load_store_unit_holds_records_back(folder):
    """Counted by hand. A shared load of 32 passes enters the load/store unit in cycle 102 and keeps it to 134. The
    sample of 128 is ready in 129 and gets through in 134, so in 160, when the FIFO of one place is sampled again, there
    is room; had it been two loads (to 166), there would be none."""
    chip = load_chip(folder / "quick.toml")
    for loads, kept in ((1, [128, 160]), (2, [128])):
        code = [*(make("LDS.32", dst=k, a=1) for k in range(loads)), make("NANOSLEEP", imm=55, slot="b"), make("EXIT")]
        traced = warp([0], [access((), wavefronts=32)] * loads)
        timing, records = run(
            chip, code, [traced], sampling=Sampling(32, "all", fifo_depth=1, drain_cycles=1, stream="lsu")
        )
        assert [t for t in records["cycle"].tolist() if t < 192] == kept
        assert timing.losses["dropped_fifo"].tolist() == [2 - len(kept)]
