"""Bytes and sectors are conserved from the lanes to the L1, to the L2, to the DRAM: on random traces and on the
samples.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gpuprof.chips import load_chip
from gpuprof.emulate.trace_log.trace_entries import SECTOR_MASK
from gpuprof.timing.state.machine import power_on
from tests.paths import SAMPLES
from tests.support.matrices import long_from
from tests.support.running import run_file
from tests.support.timing_support import access, make, run, warp

A64 = 1 << 6
CODE = {
    "load": make("LDG.32", dst=0, a=20, mods=A64),
    "past the L1": make("LDG.32", dst=0, a=20, mods=A64 | 2 << 7),
    "store": make("STG.32", a=20, b=0, mods=A64),
    "atomic": make("ATOMG.ADD.U32", dst=0, a=20, b=2, mods=A64),
    "reduction": make("REDG.ADD.U32", a=20, b=2, mods=A64),
}
LOADS = ("load", "past the L1")
READS = (*LOADS, "atomic", "reduction")
WRITES = ("store", "atomic", "reduction")


def small_chip(folder: Path, l2_nbytes: int):
    path = folder / f"small{l2_nbytes}.toml"
    path.write_text(
        f'inherits = "a100"\nsms = 3\nl1_mshrs = 16\nl1_nbytes = 32768\nl1_shared_pool = 0\nl2_nbytes = {l2_nbytes}\n'
        "l2_fetch_nbytes = 32\ndram_masks_writes = 1\n"
    )
    return load_chip(path)


@pytest.fixture(scope="module")
def chips(tmp_path_factory):
    """One whose L2 has 128 lines, and one whose L2 holds all that the traces touch."""
    folder = tmp_path_factory.mktemp("chips")
    return small_chip(folder, 16384), small_chip(folder, 1 << 22)


@st.composite
def traces(draw):
    """(kinds of the instructions, accesses of each warp)."""
    kinds = draw(st.lists(st.sampled_from(sorted(CODE)), min_size=1, max_size=12))
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    most, span = draw(st.integers(1, 32)), draw(st.sampled_from([8, 64, 600]))

    def one(kind):
        sectors = sorted(set(random.integers(0, span, random.integers(1, most + 1)).tolist()))
        left_out = {s: int(random.choice([0, 0xF0, 0x0F, 0xFF, 0x3C])) for s in sectors} if kind == "store" else None
        return access(sectors, missing=left_out)

    return kinds, [[one(kind) for kind in kinds] for _ in range(draw(st.integers(1, 12)))]


def touched(kinds, warps, wanted) -> list[int]:
    """The sectors of all accesses of these kinds, marks and all."""
    return [
        s
        for accesses in warps
        for kind, (_, sectors) in zip(kinds, accesses, strict=True)
        if kind in wanted
        for s in sectors
    ]


@pytest.mark.long
@given(traces())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_traces(chips, trace):
    kinds, warps = trace
    code = [*(CODE[kind] for kind in kinds), make("EXIT")]
    loads, writes = touched(kinds, warps, LOADS), [s & SECTOR_MASK for s in touched(kinds, warps, WRITES)]
    reads = touched(kinds, warps, READS)
    stored = {s & SECTOR_MASK for s in touched(kinds, warps, ("store",))}
    for chip in chips:
        machine = power_on(chip)
        timing, _ = run(chip, code, [warp([0], accesses) for accesses in warps], machine=machine)
        # Lanes to L1: each sector of a load is looked up once; one that passes the L1 by does not hit.
        assert timing.l1_sectors == len(loads)
        assert timing.l1_hits <= len(touched(kinds, warps, ("load",)))
        # L1 to L2: what misses, and all that writes.
        assert timing.l2_sectors == timing.l1_sectors - timing.l1_hits + len(writes)
        # L2 to DRAM: what misses is fetched; what was written is there or has gone to the DRAM.
        assert timing.dram_read_nbytes == 32 * (timing.l2_sectors - timing.l2_hits)
        dirty = sum(int(mask).bit_count() for mask in machine.l2_line["dirty"]) + machine.write_queue["sectors"].sum()
        assert len(set(writes)) <= dirty + timing.dram_write_nbytes // 32 <= len(writes)
    # The large L2 keeps everything: each sector is fetched once at most, and once if no store can have filled it.
    assert timing.dram_write_nbytes == 0 and dirty == len(set(writes))
    assert len(set(reads) - stored) <= timing.dram_read_nbytes // 32 <= len(set(reads))


def test_flushed_and_fetched_again(chips):
    """All lines of the small L2 are written, then as many others: what left is what came. A set of 16 keeps four."""
    chip = chips[0]
    machine = power_on(chip)
    lines = chip.l2_nbytes // 128
    code = [CODE["store"], make("EXIT")]
    stores, _ = run(chip, code, [warp([0], [access(range(4 * k, 4 * k + 4))]) for k in range(lines)], machine=machine)
    assert sorted(machine.l2_line["dirty"]) == [0] * (lines * 3 // 4) + [15] * (lines // 4)
    assert stores.dram_write_nbytes + 32 * machine.write_queue["sectors"].sum() == chip.l2_nbytes * 3 // 4
    left = int(machine.write_queue["sectors"].sum())
    code = [CODE["load"], make("EXIT")]
    others = [warp([0], [access(range(4 * k, 4 * k + 4))]) for k in range(lines, 2 * lines)]
    loads, _ = run(chip, code, others, machine=machine)
    written = loads.dram_write_nbytes
    assert loads.dram_read_nbytes == chip.l2_nbytes
    assert chip.l2_nbytes // 4 <= written <= chip.l2_nbytes // 4 + 32 * left  # some is written while nothing runs
    assert not machine.l2_line["dirty"].any() and not machine.l2_ticket.any()


@pytest.mark.parametrize("name", long_from(2, ["saxpy", "transpose", "reduction", "histogram", "spmv"]))
def test_samples(name):
    """What the emulator has counted lane by lane comes out of the timing model's caches; GDDR brings single sectors."""
    _, results = run_file(SAMPLES / f"{name}.cu", chip_name="rtx3090")
    for result in results.launches:
        timing, counters = result.timing, result.counters
        asked = int(counters.l2_sectors_global.sum() + counters.l2_sectors_local.sum())
        assert asked > 0 and timing.l2_sectors + timing.l1_hits == asked
        assert timing.dram_read_nbytes == 32 * (timing.l2_sectors - timing.l2_hits)
        assert timing.l1_hits <= timing.l1_sectors <= asked
        assert timing.shared_wavefronts >= int(counters.l1_wavefronts_shared.sum())
