"""Stores that write sectors in part: what they cost a slice of the L2, and what the DRAM reads and writes for them."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.timing.state.layout import TICKS
from gpuprof.timing.state.machine import power_on
from gpuprof.timing.units.set_associative import fold_bits
from tests.readable.timing import ledger_of, time_launch
from tests.support.timing_support import access, launch, make, run, warp
from tests.timing.test_timing import A64

CG = A64 | 2 << 7  # past the L1
STORE, LOAD = make("STG.32", a=20, b=0, mods=A64), make("LDG.32", dst=1, a=20, mods=CG)
WAIT = make("MEMBAR", mods=2)
SMALL = "sms = 2\nl2_nbytes = 16384\nl2_slices = 4\ndram_channels = 4\nblock_launch_cycles = 100\n"
FILLS = 'inherits = "a100"\n' + SMALL
MASKS = 'inherits = "rtx3090"\n' + SMALL
HALF = 0xF0  # the words that a store of a sector's first half leaves out


def chip_of(folder: Path, text: str):
    path = folder / "chip.toml"
    path.write_text(text)
    return load_chip(path)


def slice_is_free(chip, accesses) -> float:
    """The cycle from which the slice of line 0 is free again after the stores of one warp, all to lines of that
    slice.
    """
    machine = power_on(chip)
    run(chip, [*[STORE] * len(accesses), make("EXIT")], [warp([0], accesses)], machine=machine)
    return int(machine.slice_tick[slice_of(chip, 0)]) / TICKS


def slice_of(chip, line):
    return fold_bits.py_func(line * 128 // chip.l2_interleave_nbytes) % chip.l2_slices


def lines_of_slice(chip):
    return (line for line in itertools.count() if slice_of(chip, line) == slice_of(chip, 0))


def on_line(line, sectors, left_out):
    """A store to sectors of a line, counted from its first."""
    return access([4 * line + s for s in sectors], missing={4 * line + s: words for s, words in left_out.items()})


@pytest.mark.parametrize("sectors, left_out, cycles", [
    ([0, 1, 2, 3], {}, 4 * 32 / 48),
    ([0], {0: HALF}, 2.8 + 1.7),
    ([0, 2], {0: HALF, 2: HALF}, 2.8 + 2 * 1.7),
    ([0, 1, 2, 3], {0: HALF, 1: HALF, 2: HALF, 3: HALF}, 2.8 + 4 * 1.7),
    ([0, 1, 2, 3], {3: 0x80}, 2.8 + 1.7 + 3 * 32 / 48),
])  # fmt: skip
def test_a_sector_written_in_part_is_read_changed_and_written(tmp_path, sectors, left_out, cycles):
    """Stores to a line each follow each other as fast as its slice, or the address unit, takes them."""
    chip = chip_of(tmp_path, FILLS.replace("16384", "1048576"))
    stores = [on_line(line, sectors, left_out) for line in itertools.islice(lines_of_slice(chip), 128)]
    few, many = (slice_is_free(chip, stores[:n]) for n in (64, 128))
    assert (many - few) / 64 == pytest.approx(max(cycles, chip.address_cycles), abs=0.1)


@pytest.mark.parametrize("what, left_out, between, cycles", [
    ("two halves make four whole sectors", (0xF0, 0x0F), 0, 2 * 4 * 32 / 48),
    ("the same half twice leaves them in part", (0xF0, 0xF0), 0, 2 * (2.8 + 4 * 1.7)),
    ("15 lines of the slice may come between the halves", (0xF0, 0x0F), 15, 2 * 4 * 32 / 48),
    ("16 may not", (0xF0, 0x0F), 16, 2 * (2.8 + 4 * 1.7)),
])  # fmt: skip
def test_stores_to_a_line_are_joined(tmp_path, what, left_out, between, cycles):
    """Cycles of the slice for a line that two instructions store to. The second one's come in groups of `between` + 1
    lines after the first one's.
    """
    chip = chip_of(tmp_path, FILLS.replace("16384", "1048576"))
    assert chip.l2_join_lines == 16
    lines = [*itertools.islice(lines_of_slice(chip), -(-64 // (between + 1)) * (between + 1))]
    stores = []
    for first in range(0, len(lines), between + 1):
        for words in left_out:
            stores += [on_line(line, range(4), dict.fromkeys(range(4), words)) for line in lines[first:][: between + 1]]
    half = len(stores) // 2
    few, many = (slice_is_free(chip, stores[:n]) for n in (half, 2 * half))
    assert (many - few) / (len(lines) / 2) == pytest.approx(max(cycles, 2 * chip.address_cycles), abs=0.1)


@pytest.mark.parametrize("what, text, left_out, read, written", [
    ("HBM fills what stores left out", FILLS, HALF, 1, 1),
    ("and nothing where they left out nothing", FILLS, 0, 0, 1),
    ("GDDR masks it", MASKS, HALF, 0, 1),
])  # fmt: skip
def test_a_line_that_leaves_the_l2(tmp_path, what, text, left_out, read, written):
    """All lines of the L2 are written, a sector each; the loads of as many others evict them."""
    chip = chip_of(tmp_path, text + "l2_fetch_nbytes = 32\n")
    lines = chip.l2_nbytes // 128
    machine = power_on(chip)
    stores = [warp([0], [access([4 * k], missing={4 * k: left_out})]) for k in range(lines)]
    run(chip, [STORE, make("EXIT")], stores, machine=machine)
    loads = [warp([0], [access([4 * k])]) for k in range(lines, 2 * lines)]
    timing, _ = run(chip, [LOAD, make("EXIT")], loads, machine=machine)
    assert timing.dram_write_nbytes == 32 * lines * written
    assert timing.dram_read_nbytes == 32 * lines * (1 + read)


@pytest.mark.parametrize("nbytes, sectors, fetched", [
    (32, [1], 1), (64, [1], 2), (64, [1, 2], 4), (64, [0, 1], 2), (128, [1], 4),
])  # fmt: skip
def test_a_miss_fetches_aligned_groups(tmp_path, nbytes, sectors, fetched):
    chip = chip_of(tmp_path, FILLS + f"l2_fetch_nbytes = {nbytes}\n")
    machine = power_on(chip)
    timing, _ = run(chip, [LOAD, make("EXIT")], [warp([0], [access(sectors)])], machine=machine)
    assert timing.dram_read_nbytes == 32 * fetched
    assert timing.l2_hits == 0
    timing, _ = run(chip, [LOAD, make("EXIT")], [warp([0], [access([0, 1])])], machine=machine)
    assert timing.l2_hits == min(fetched, 2)  # sectors 0 and 1 came, but for 32 bytes at a time


@pytest.mark.parametrize("text", [FILLS, MASKS, FILLS + "l2_fetch_nbytes = 128\n"])
def test_the_twin_agrees(tmp_path, text):
    """Random stores in part, whole ones, loads and atomics, in an L2 that they soon fill."""
    chip = chip_of(tmp_path, text)
    random = np.random.default_rng(1)
    code = [STORE, LOAD, STORE, make("REDG.ADD.U32", a=20, b=2, mods=A64), STORE, LOAD, WAIT, make("EXIT")]

    def one(kind):
        sectors = sorted(set(random.integers(0, 1200, random.integers(1, 20)).tolist()))
        missing = {s: int(random.choice([0, 0xF0, 0x0F, 0x3C])) for s in sectors} if kind is STORE else None
        return access(sectors, missing=missing)

    warps = [warp([0], [one(kind) for kind in code[:6]]) for _ in range(24)]
    timing, _ = run(chip, code, warps)
    job = launch(encode(code))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert timing.end_cycle == twin.end
    assert timing.dram_read_nbytes == 32 * twin.counts["dram_read_sectors"]
    assert timing.dram_write_nbytes == 32 * twin.counts["dram_write_sectors"]
