"""What is counted of traces: accesses by instruction against the emulator's own counters, reuse distances against
definitions.
"""

from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.correlate.database import reading
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.trace_counts import reuse_distances
from gpuprof.run.trace_counts.launch_counts import TraceCounts
from gpuprof.run.trace_counts.line_accesses import recorded
from gpuprof.run.trace_counts.reuse_distances import DeviceStream, bin_of, least_of_bin
from gpuprof.run.trace_counts.trace_walk import is_chosen
from gpuprof.tables.blocks import ACCESS_COUNTERS, BLOCK_COUNTERS, REUSE_DISTANCES
from gpuprof.tables.launch import COUNTERS
from gpuprof.timing.sampling.configuration import Sampling
from tests.readable.counted import Counts
from tests.support.running import run_file, run_source
from tests.support.timing_support import access, encode, launch, piece
from tests.timing.test_timing import random_kernel

SAMPLES = Path(__file__).parents[2] / "samples"
BLOCKS = Sampling(counters=("blocks",))


def counted(tmp_path, run, *what):
    output = tmp_path / "counted.gprec"
    with RecordWriter(output) as recorder:
        run(*what, recorder=recorder, sampling=BLOCKS)
    return read_recording(output).launches


def histogram(rows, scope):
    return {int(row["least_lines"]): tuple(int(n) for n in list(row)[3:]) for row in rows if row["scope"] == scope}


@pytest.mark.parametrize(
    ("source", "launch"),
    [
        ("transpose.cu", "coalesced<<<(4, 4), (32, 8)>>>(out: f32[128,128], in: f32[128,128]=random, 128)"),
        ("histogram.cu", "shared_atomics<<<8, 256>>>(data: u32[4096]=random, 4096, bins: u32[64])"),
        ("mandelbrot.cu", "mandelbrot<<<(4, 4), (16, 8)>>>(i32[32,64], 64, 32, 20)"),
    ],
)
def test_accesses_are_the_emulators(tmp_path, source, launch):
    """Lines, sectors, lanes and passes, which the emulator counts as it executes."""
    found = counted(tmp_path, run_file, SAMPLES / source, launch)[0]
    by_pc = {row["pc"]: row for row in found.rows[COUNTERS]}
    assert len(found.rows[ACCESS_COUNTERS])
    for row in found.rows[ACCESS_COUNTERS]:
        own = by_pc[row["pc"]]
        assert row["accesses"] <= own["inst_executed"]
        assert row["lanes"] == own["thread_inst_executed_pred_on"]
        assert row["lines"] == own["l1_tag_requests_global"]
        if row["lines"]:
            assert row["sectors"] == own["l2_sectors_global"]
        else:
            assert row["wavefronts"] == own["l1_wavefronts_shared"] or not own["l1_wavefronts_shared"]
    assert set(by_pc) >= set(found.rows[ACCESS_COUNTERS]["pc"].tolist())


PASSES = """
__global__ void twice(volatile const float *x, float *y)
{
    float a = x[threadIdx.x], b = x[threadIdx.x + 32], c = x[threadIdx.x];
    ((volatile float *)y)[2 * threadIdx.x] = a + b + c;
}
"""


def test_distances_of_one_warp(tmp_path):
    """It reads lines 0 and 1 of x, line 0 again, and half of the words of two lines of y."""
    found = counted(tmp_path, run_source, tmp_path, PASSES, "twice<<<1, 32>>>(x: f32[64], y: f32[64])")[0]
    first, second = (4, 16, 8), (1, 4, 0)  # four lines for the first time, then one line of four sectors
    assert histogram(found.rows[REUSE_DISTANCES], 0) == {-1: first, 1: second}
    assert histogram(found.rows[REUSE_DISTANCES], 1) == {-1: (2, 8, 0), 1: second}
    assert histogram(found.rows[REUSE_DISTANCES], 2) == {-1: (4, 0, 0)}
    (store,) = (row for row in found.rows[ACCESS_COUNTERS] if row["partial_sectors"])
    assert (store["accesses"], store["partial_sectors"], store["partial_requests"]) == (1, 8, 2)


def test_a_launch_finds_what_the_one_before_left(tmp_path):
    launches = "saxpy<<<2, 64>>>(128, 2.0, x: f32[128], y: f32[128])", "saxpy<<<2, 64>>>(128, 2.0, x, y)"
    first, second = counted(tmp_path, run_file, SAMPLES / "saxpy.cu", *launches).values()
    assert histogram(first.rows[REUSE_DISTANCES], 0)[-1][0] == 8  # of x and y
    assert -1 not in histogram(second.rows[REUSE_DISTANCES], 0)
    assert sum(lines for lines, _, _ in histogram(second.rows[REUSE_DISTANCES], 0).values()) == 12


def test_bins():
    """Each distance is in the bin whose least distance is the largest that is not above it."""
    distances = np.concatenate([np.arange(-1, 5000), 2 ** np.arange(20, 50), 2 ** np.arange(20, 50) - 1])
    bins = np.array([bin_of(distance) for distance in distances.tolist()])
    least = np.array([least_of_bin(int(number)) for number in bins])
    above = np.array([least_of_bin(int(number) + 1) for number in bins])
    assert ((least <= distances) & (distances < above)).all()
    assert [least_of_bin(number) for number in range(16)] == [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]


def test_a_long_stream_is_sampled():
    """Of 3,000 lines in turn, 100 times, each is 2,999 lines away: those that are looked at say so within a tenth."""
    stream, seen = DeviceStream(), Counter()
    for _ in range(100):
        line = np.arange(3000)
        stream.expect(len(line))
        times = 1 << stream.rate_bits
        line = line[is_chosen(line)] if stream.rate_bits else line
        for distance in stream.take(line).tolist():
            seen[distance if distance == -1 else distance * times] += times
    assert stream.rate_bits == 4
    assert abs(seen.total() / 300_000 - 1) < 0.1
    assert all(distance == -1 or abs(distance / 2999 - 1) < 0.1 for distance in seen)
    assert seen[-1] == 3000


@pytest.mark.parametrize("seed", range(3))
def test_the_twin_counts_the_same(monkeypatch, seed):
    """Random kernels, the trace of whose blocks comes in several pieces: warps of one access, and of none, too."""
    monkeypatch.setattr(reuse_distances, "EXACT_LINES", 1 << 30)
    instructions, warps, per_block = random_kernel(seed, 36, 3)
    warps = [(b, a if k % 7 else [access(())] * len(a), m) for k, (b, a, m) in enumerate(warps)]
    code = encode(instructions)
    n_blocks = len(warps) // per_block
    with_record = np.array([instruction.op.space not in ("", "barrier") for instruction in instructions])
    job = SimpleNamespace(**vars(launch(code)), n_blocks=n_blocks)
    counts = TraceCounts(job, recorded(code, with_record), DeviceStream())
    twin = Counts(code, set(np.flatnonzero(with_record).tolist()), max(1, n_blocks // 8))
    for first in range(0, n_blocks, 5):
        some = piece(warps[per_block * first : per_block * (first + 5)], per_block, first)
        assert len(list(counts.counting(iter([some])))) == 1
        twin.add(some)
    names = [name for name in ACCESS_COUNTERS.dtype.names if name not in ("pc", "reserved")]
    sums = {
        int(row["pc"] - 0x1000) // INSTRUCTION_NBYTES: {name: int(row[name]) for name in names if row[name]}
        for row in counts.access_rows()
    }
    assert sums == {number: {name: n for name, n in own.items() if n} for number, own in twin.sums.items()}
    expected = defaultdict(lambda: np.zeros(3, np.int64))
    for (scope, distance), found in twin.reuse.items():
        expected[scope, distance if distance < 4 else least_of_bin(bin_of(distance))] += found
    rows = counts.reuse_rows()
    for number, scope in enumerate(("device", "block")):
        assert histogram(rows, number) == {
            distance: tuple(found.tolist()) for (of, distance), found in expected.items() if of == scope
        }
    assert histogram(rows, 2) == {-1: (len(twin.streams["device"]), 0, 0)}


def test_a_launch_without_accesses(tmp_path):
    """One block that touches no memory has no rows."""
    source = "__global__ void nothing() {}"
    found = counted(tmp_path, run_source, tmp_path, source, "nothing<<<1, 32>>>()")[0]
    assert (len(found.rows[ACCESS_COUNTERS]), len(found.rows[REUSE_DISTANCES])) == (0, 0)


def check_access_counters(launch):
    """Each access to global memory has the emulator's number of lines, and each line one distance."""
    found = {int(row["pc"]): int(row["lines"]) for row in launch.rows[ACCESS_COUNTERS] if row["lines"]}
    lines = {int(row["pc"]): int(row["l1_tag_requests_global"]) for row in launch.rows[COUNTERS]}
    assert {pc: n for pc, n in lines.items() if n} == {pc: n for pc, n in found.items() if lines[pc]}
    assert sum(n for n, _, _ in histogram(launch.rows[REUSE_DISTANCES], 0).values()) == sum(found.values())


def test_no_blocks(tmp_path):
    """A launch of none is refused, and no recording is left; a launch of one is counted."""
    line = "saxpy<<<{}, 64>>>(64, 2.0, x: f32[64], y: f32[64])"
    with pytest.raises(UsageError, match="the grid's x extent is 0"):
        counted(tmp_path, run_file, SAMPLES / "saxpy.cu", line.format(0))
    assert list(tmp_path.iterdir()) == []
    found = counted(tmp_path, run_file, SAMPLES / "saxpy.cu", line.format(1))[0]
    check_access_counters(found)
    assert (len(found.rows[BLOCK_COUNTERS]), found.rows[ACCESS_COUNTERS]["accesses"].tolist()) == (1, [2, 2, 2])


def test_an_interrupt_while_counting(tmp_path, monkeypatch):
    """The launch before keeps its counters; of the one that is cut short there are the blocks that had ended. The
    database can be made of both.
    """
    add, begun = TraceCounts.add, []

    def interrupted(counts, piece):
        begun.append(counts.launch.index)
        if begun.count(1) == 3:
            raise KeyboardInterrupt
        add(counts, piece)

    monkeypatch.setattr(TraceCounts, "add", interrupted)
    chip = altered(load_chip("a100"), {"sms": 2}, "small")
    lines = "saxpy<<<2, 64>>>(128, 2.0, x: f32[128], y: f32[128])", "saxpy<<<4096, 1024>>>(128, 2.0, x, y)"
    with pytest.raises(KeyboardInterrupt):
        counted(tmp_path, partial(run_file, chip=chip), SAMPLES / "saxpy.cu", *lines)
    recording = read_recording(tmp_path / "counted.gprec")
    first, second = recording.launches.values()
    assert not recording.complete and recording.marks[0]["text"] == "interrupted"
    check_access_counters(first)
    assert (len(first.rows[BLOCK_COUNTERS]), len(second.rows[ACCESS_COUNTERS]), len(second.rows[REUSE_DISTANCES])) == (
        2,
        0,
        0,
    )
    n_blocks = len(second.rows[BLOCK_COUNTERS])
    assert 0 < n_blocks < 4096
    with reading(tmp_path / "counted.gprec") as db:
        found = dict(db.execute("SELECT launch, COUNT(*) FROM block_counters GROUP BY launch"))
        assert (found, db.execute("SELECT DISTINCT launch FROM access_counters").fetchall()) == (
            {0: 2, 1: n_blocks},
            [(0,)],
        )
