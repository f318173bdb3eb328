"""Counters of blocks and warps: their sums are the launch's own counters and its ledger, exactly."""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import altered, list_chips, load_chip
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.stalls import INDEX
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.tables.blocks import ACCESS_COUNTERS, BLOCK_COUNTERS, WARP_COUNTERS
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import power_on
from gpuprof.timing.state.stall_tables import WAITS
from tests.run.test_nested import QUICKSORT
from tests.run.test_trace_counts import check_access_counters
from tests.support.running import run_file, run_source
from tests.support.timing_support import access, encode, launch, piece, warp

SAMPLES = Path(__file__).parents[2] / "samples"
WAVES = Sampling(counters=("waves",))
SUMS = {
    "issue_slots": lambda timing: timing.issue_slots,
    "resident_cycles": lambda timing: timing.resident_warp_cycles,
    "issue_cycles": lambda timing: int(timing.ledger[:, INDEX["selected"]].sum()),
    "l1_sectors": lambda timing: timing.l1_sectors,
    "l1_hits": lambda timing: timing.l1_hits,
    "l2_sectors": lambda timing: timing.l2_sectors,
    "l2_hits": lambda timing: timing.l2_hits,
    "dram_read_sectors": lambda timing: timing.dram_read_nbytes // 32,
    "dram_write_sectors": lambda timing: timing.dram_write_nbytes // 32,
}


def recorded(tmp_path, path, *launches, **settings):
    """The recording of launches with all counters, and what they gave."""
    output = tmp_path / "counted.gprec"
    with RecordWriter(output) as recorder:
        _, results = run_file(path, *launches, recorder=recorder, sampling=WAVES, **settings)
    return read_recording(output), results


def check(blocks, warps, timing):
    """Blocks and warps add up to the launch."""
    assert {name: int(blocks[name].sum()) for name in SUMS} == {name: of(timing) for name, of in SUMS.items()}
    assert len(blocks) == timing.blocks_launched and len(warps) == timing.warps_launched
    assert sorted(blocks["block"].tolist()) == list(range(len(blocks)))
    assert int(blocks["end_cycle"].max()) == timing.end_cycle
    for name, reasons in WAITS.items():
        charged = sum(int(timing.ledger[:, INDEX[reason]].sum()) for reason in reasons)
        assert (name, int(warps[f"{name}_cycles"].sum())) == (name, charged)
    times = warps["end_cycle"] - warps["start_cycle"]
    assert (sum(warps[f"{name}_cycles"] for name in (*WAITS, "issue")) == times).all()
    for block in blocks:
        own = warps[warps["block"] == block["block"]]
        assert len(own) == block["warps"] and (own["sm"] == block["sm"]).all()
        assert own["start_cycle"].min() == block["start_cycle"] and own["end_cycle"].max() == block["end_cycle"]
        assert own["issue_slots"].sum() == block["issue_slots"]
        assert times[warps["block"] == block["block"]].sum() == block["resident_cycles"]


CODE = [
    make("LDG.32", dst=8, a=2, mods=1 << 6),
    make("FFMA", dst=9, a=8, b=8, c=8),
    make("BAR.SYNC", imm=0),
    make("LDG.32", dst=10, a=2, mods=1 << 6),
    make("STG.32", a=6, b=10, mods=1 << 6),
    make("RED.ADD.U32", a=6, b=9, mods=1 << 6),
    make("EXIT"),
]


@pytest.mark.parametrize("name", list_chips())
def test_sums_on_every_chip(name):
    """Blocks of two warps, several waves of them, that share lines with their neighbours."""
    chip = load_chip(name)
    n = min(3 * chip.sms, 200) * 2

    def of_warp(k):
        line = [4 * (k // 3), 4 * (k // 3) + 1]
        return warp([0, 1], [access(line), access([4 * k + 2]), access([4 * k]), access([8])])

    rows = {BLOCK_COUNTERS.dtype: [], WARP_COUNTERS.dtype: []}
    job = launch(encode(CODE), blocks=n // 2, threads=64)
    timing = simulate(
        power_on(chip),
        job,
        iter([piece([of_warp(k) for k in range(n)], 2)]),
        WAVES,
        lambda some: rows[some.dtype].append(some.copy()),
        1 << 40,
    )
    check(np.concatenate(rows[BLOCK_COUNTERS.dtype]), np.concatenate(rows[WARP_COUNTERS.dtype]), timing)
    assert timing.l2_sectors and timing.l1_hits


def test_launches_in_a_recording(tmp_path):
    """Two launches, the second of which finds its data in the L2; the cycles are those without counters."""
    launches = "sequential<<<300, 256>>>(in: f32[76800]=random, out: f32[300])", "shuffle<<<64, 256>>>(in, out)"
    recording, results = recorded(tmp_path, SAMPLES / "reduction.cu", *launches)
    _, without = run_file(SAMPLES / "reduction.cu", *launches)
    assert results.cycles() == without.cycles()
    for number, result in enumerate(results.launches):
        found = recording.launches[number]
        check(found.rows[BLOCK_COUNTERS], found.rows[WARP_COUNTERS], result.timing)
        assert set(found.rows[BLOCK_COUNTERS]["launch"]) == set(found.rows[WARP_COUNTERS]["launch"]) == {number}
    requests = recording.launches[0].rows[BLOCK_COUNTERS]
    # Every load misses: a request for each of a block's eight warps, which takes as long as the DRAM at least.
    assert (requests["l2_requests"] >= 8).all()
    assert (requests["l2_request_cycles"] >= 8 * load_chip("a100").l2_near_cycles // 2).all()


def test_blocks_alone(tmp_path):
    """Rows of warps are there only where they are asked for."""
    output = tmp_path / "blocks.gprec"
    with RecordWriter(output) as recorder:
        run_file(
            SAMPLES / "saxpy.cu",
            "saxpy<<<4, 64>>>(256, 2.0, f32[256], f32[256])",
            recorder=recorder,
            sampling=Sampling(counters=("blocks",)),
        )
    found = read_recording(output).launches[0]
    assert (len(found.rows[BLOCK_COUNTERS]), len(found.rows[WARP_COUNTERS])) == (4, 0)


def test_launches_by_kernels(tmp_path):
    output = tmp_path / "nested.gprec"
    with RecordWriter(output) as recorder:
        _, results = run_source(
            tmp_path, QUICKSORT, "sort<<<1, 1>>>(x: i32[60]=random, 60)", recorder=recorder, sampling=WAVES
        )
    recording = read_recording(output)
    assert len(results.launches) > 5
    for result in results.launches:
        found = recording.launches[result.launch.index]
        check(found.rows[BLOCK_COUNTERS], found.rows[WARP_COUNTERS], result.timing)
        check_access_counters(found)


def test_blocks_that_were_timed(tmp_path):
    """With --sample-blocks there is a row for each block that was timed, and none for the others; accesses are those of
    the blocks whose trace had come: whole chunks of it, here the first of 16 blocks and 8 of 128.
    """
    launch = "saxpy<<<2048, 256>>>(524288, 2.0, f32[524288]=random, f32[524288])"
    chip = altered(load_chip("a100"), {"sms": 2, "dram_channels": 1}, "small")
    recording, _ = recorded(tmp_path, SAMPLES / "saxpy.cu", launch, sample_blocks=True, chip=chip)
    blocks = recording.launches[0].rows[BLOCK_COUNTERS]
    assert f" timed {len(blocks):,} of 2,048 blocks" in recording.marks[0]["text"]
    assert sorted(blocks["block"].tolist()) == list(range(len(blocks)))
    assert 16 + 7 * 128 < len(blocks) <= 16 + 8 * 128
    assert recording.launches[0].rows[ACCESS_COUNTERS]["accesses"].tolist() == 3 * [8 * (16 + 8 * 128)]


def test_a_fault_keeps_the_rows_so_far(tmp_path):
    """A launch that is stopped has the rows of the blocks that had ended."""
    # Of 2,000 loads each waits for the one before: few instructions, many cycles.
    source = """
__global__ void some(int *x, int n)
{
    int at = 0;
    for (int i = 0; i < (blockIdx.x == 100 ? n : 1); i++)
        at = x[at];
    x[0] = at;
}
"""
    (tmp_path / "some.cu").write_text(source)
    with pytest.raises(KernelFault, match="still running"):
        recorded(
            tmp_path,
            tmp_path / "some.cu",
            "some<<<1, 1>>>(x: i32[1], 1)",
            "some<<<108, 1>>>(x, 2000)",
            max_cycles=20000,
        )
    recording = read_recording(tmp_path / "counted.gprec")
    assert sorted(recording.launches[1].rows[BLOCK_COUNTERS]["block"].tolist()) == [k for k in range(108) if k != 100]
    assert not recording.complete
