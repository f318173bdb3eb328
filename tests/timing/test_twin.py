"""The compiled model and its readable twin agree cycle for cycle: ledger, samples and counters, on random kernels and
chips.
"""

import math
from collections import Counter
from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.isa.modifiers import pack
from gpuprof.tables.blocks import WARP_COUNTERS
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import power_on
from gpuprof.timing.state.stall_tables import WAITS
from tests.readable.blame import causes_of
from tests.readable.timing import ledger_of, recorded_stalls, stalls_of, time_launch
from tests.support.matrices import long_from
from tests.support.seeds import seeds
from tests.support.timing_support import access, launch, make, piece, run, slept, warp
from tests.timing.test_timing import random_kernel

CHIPS = {
    "a100": 'inherits = "a100"\nsms = 2\n',
    "narrow": 'inherits = "v100"\nsms = 1\nwarp_slots = 8\nl1_mshrs = 16\nl2_nbytes = 16384\nprefetch_lines = '
    "1\nl0i_lines = 2\n",
    "ppu15": 'inherits = "ppu15"\nsms = 2\n',
    "half a lane": 'inherits = "t4"\nsms = 2\n',
    "eight partitions": 'inherits = "xehpc-like"\nsms = 1\n',
}


@pytest.mark.parametrize("chip_name", long_from(1, CHIPS))
@pytest.mark.parametrize("seed", seeds(3, 1))
def test_same_ledger_and_samples(tmp_path: Path, chip_name, seed):
    path = tmp_path / f"{chip_name}.toml"
    path.write_text(CHIPS[chip_name])
    chip = load_chip(path)
    instructions, warps, per_block = random_kernel(10 + seed, 24, 3)
    sampling = Sampling(32, "all", fifo_depth=24, drain_cycles=3)
    timing, records = run(chip, instructions, warps, warps_per_block=per_block, sampling=sampling)
    job = launch(encode(instructions))
    twin = time_launch(
        chip,
        job.module.code,
        job.module.load_base,
        job.function,
        32 * per_block,
        warps,
        period=32,
        every_warp=True,
        fifo_depth=24,
        drain=3,
    )
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert (timing.end_cycle, timing.samples_dropped, timing.issue_slots) == (
        twin.end,
        twin.dropped,
        twin.counts["issue_slots"],
    )
    names = ("l1_sectors", "l1_hits", "l2_sectors", "l2_hits")
    assert [getattr(timing, name) for name in names] == [twin.counts[name] for name in names]
    assert timing.dram_write_nbytes == 32 * twin.counts["dram_write_sectors"]
    assert timing.l2_atomic_cycles == math.floor(max(twin.atomics_of_slice.values(), default=0))
    assert all(row["cycles"] <= twin.atomics_of_line[int(row["address"]) // 128] for row in timing.atomic_lines)
    found = [
        (int(r["cycle"]), int(r["stall_sm"]) >> 22, int(r["warp_slot"]), int(r["pc"]), int(r["stall_sm"]) & 0x3FFFFF,
            int(r["block"]),
         int(r["mask"]), int(r["flags"]), int(r["warp"]), int(r["resident"]), int(r["launch"]))
        for r in records
    ]  # fmt: skip
    assert found == sorted(twin.samples)


@pytest.mark.parametrize("chip_name", long_from(1, CHIPS))
def test_same_waves(tmp_path: Path, chip_name):
    """Where each warp's cycles went, by kind, and how long it was there."""
    path = tmp_path / f"{chip_name}.toml"
    path.write_text(CHIPS[chip_name])
    chip = load_chip(path)
    instructions, warps, per_block = random_kernel(31, 24, 3)
    job = launch(encode(instructions), blocks=len(warps) // per_block, threads=32 * per_block)
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32 * per_block, warps)
    rows = []
    simulate(
        power_on(chip),
        job,
        iter([piece(warps, per_block)]),
        Sampling(counters=("waves",)),
        lambda some: rows.extend(some.copy() if some.dtype == WARP_COUNTERS.dtype else ()),
        1 << 40,
    )
    kind_of = {reason: kind for kind, reasons in WAITS.items() for reason in reasons} | {"selected": "issue"}
    spent = {divmod(age, per_block): Counter(kind_of[why] for _, why in each) for age, each in twin.history.items()}
    kinds = (*WAITS, "issue")
    assert {(int(r["block"]), int(r["warp"])): {k: int(r[f"{k}_cycles"]) for k in kinds} for r in rows} == {
        place: {kind: counts[kind] for kind in kinds} for place, counts in spent.items()
    }
    assert all(r["end_cycle"] - r["start_cycle"] == spent[r["block"], r["warp"]].total() for r in rows)


A64 = 1 << 6


def test_rarer_instructions(tmp_path: Path):
    """Divisions, constants, atomics, reductions, fences, sleeps, generic and empty accesses, loops and named
    barriers.
    """
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS["a100"])
    chip = load_chip(path)
    instructions = [
        make("LDP.64", dst=1, a=255, imm=8),
        make("LDC.32", dst=3, a=4),
        make("FADD", dst=0, a=3, imm=128, slot="b", const=True),
        make("IDIV.S32", dst=5, a=0, b=3),  # block 1, a loop, begins at the next one
        make("LD.32", dst=6, a=1, mods=A64),
        make("LD.32", dst=7, a=1, mods=A64),
        make("PACK.64", dst=6, a=6, b=7),
        make("LO.64", dst=11, a=6),
        make("IMAD", dst=11, a=11, b=0, c=0),
        make("DADD", dst=7, a=6, b=4),
        make("ATOMG.ADD.U32", dst=8, a=1, b=6, mods=A64),
        make("REDG.ADD.U32", a=1, b=7, mods=A64),
        make("ATOMS.ADD.F32", dst=9, a=4, b=7),
        make("ATOMS.CAS.B32", dst=9, a=4, b=7, c=6),
        make("REDS.POPC.INC.U32", a=4),
        make("ATOMG.CAS.B32", dst=9, a=1, b=7, c=6, mods=A64),
        make("LDG.32", dst=10, a=1, mods=A64 | 2 << 7),  # ld.cg
        make("LDG.32", dst=10, a=1, mods=A64 | 1 << 10),  # ld.volatile
        make("STG.32", a=1, b=8, mods=A64),
        make("BRA", guard=0, imm=-16 * 16),
        make("MEMBAR"),
        make("NANOSLEEP", b=0),
        make("BAR.SYNC", imm=1 | 64 << 16),
        make("DDIV", dst=3, a=3, b=4),
        make("EXIT"),
    ]

    def loop(k):
        return [
            access([k, k + 40]),
            access((), wavefronts=3),
            access([9, 10], conflicts=16),
            access([400 + k], conflicts=2),
            access((), wavefronts=2, conflicts=5),
            access((), wavefronts=1, conflicts=3),
            access((), wavefronts=3, conflicts=9),
            access([600, 601 + k, 700], conflicts=2),
            access([k, k + 1, k + 90]),
            access([k, k + 40]),
            access([], lanes=0, wavefronts=0) if k % 3 == 0 else access([k]),
        ]

    warps = []
    for number in range(16):
        head = [access((), wavefronts=0), access([2, 3])]
        times = 1 + number % 3
        warps.append(warp([0, *[1] * times, 2, 3], head + [a for k in range(times) for a in loop(number * 7 + k)]))
        warps[-1][1].append(slept(15 * number))
    timing, _ = run(chip, instructions, warps, warps_per_block=2)
    job = launch(encode(instructions))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 64, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert timing.end_cycle == twin.end


@pytest.mark.parametrize("chip_name", ["a100", "narrow", "b200"])
def test_results_on_their_way_between_units(tmp_path: Path, chip_name):
    """Makers and readers of every kind, predicates that guard and are voted on, barriers that a few and many warps meet
    at, a fence, a sleep.
    """
    path = tmp_path / "chip.toml"
    path.write_text({**CHIPS, "b200": 'inherits = "b200"\nsms = 1\n'}[chip_name])
    chip = load_chip(path)
    instructions = [
        make("FFMA", dst=0, a=20, b=21, c=22),
        make("HADD2", dst=1, a=0, b=20),
        make("HFMA2", dst=1, a=1, b=1, c=0),
        make("LOP3", dst=2, a=1, b=0, c=20),
        make("IMULHI.U32", dst=3, a=2, b=1),
        make("IMULHI.S32", dst=3, a=3, b=2),
        make("IMAD", dst=4, a=3, b=2, c=1),
        make("PACK.64", dst=20, a=4, b=1),
        make("DFMA", dst=21, a=20, b=20, c=20),
        make("DADD", dst=21, a=21, b=20),
        make("POPC", dst=5, a=1),
        make("MUFU.EX2", dst=6, a=4, mods=pack(ftz=1)),
        make("CVT.F32.S32", dst=7, a=4),
        make("CVT.F32.F16", dst=7, a=7),
        make("ISETP.S32", dst=1, a=7, b=2),
        make("VOTE.BALLOT", dst=8, a=1),
        make("DSETP", dst=2, a=21, b=20),
        make("SEL", dst=9, a=8, b=1, e=1),
        make("FADD", guard=2, dst=9, a=9, b=1),
        make("STG.32", guard=1, a=30, b=9, mods=A64),
        make("STS.64", a=1, b=21),
        make("MEMBAR", mods=pack(scope="cta")),
        make("BAR.SYNC", imm=1 | 64 << 16),
        make("BAR.RED.POPC", dst=9, c=1),
        make("HMMA.1688.F32", dst=12, a=8, b=1, c=12),
        make("HMMA.1688.F32", dst=12, a=8, b=1, c=12),
        make("FADD", dst=12, a=12, b=13),
        make("NANOSLEEP", imm=20, slot="b"),
        make("STG.32", a=30, b=12, mods=A64),
        make("EXIT"),
    ]
    stores = [access(range(4)), access((), wavefronts=2), access(range(9, 17))]
    warps = [warp([0, 1, 2], stores) for _ in range(24)]
    timing, _ = run(chip, instructions, warps, warps_per_block=6)
    job = launch(encode(instructions))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 192, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert timing.end_cycle == twin.end


def test_matrices(tmp_path: Path):
    """The tensor pipe is taken for as long as a shape's products ask for; fragments come and go through shared
    memory.
    """
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS["a100"])
    chip = load_chip(path)
    instructions = [
        make("LDSM.4", dst=0, a=40),
        make("LDSM.2", dst=4, a=40),
        make("HMMA.16816.F32", dst=8, a=0, b=4, c=8),
        make("HMMA.16816.F32", dst=8, a=0, b=4, c=8),
        make("HMMA.1688.F32", dst=12, a=0, b=4, c=12),
        make("HMMA.SP.16816.F32", dst=12, a=0, b=4, c=12, e=6),
        make("IMMA.16832", dst=16, a=0, b=4, c=16),
        make("DMMA.884", dst=0, a=4, b=5, c=0),
        make("DMMA.884", dst=0, a=4, b=5, c=0),
        make("FADD", dst=8, a=8, b=12),
        make("STSM.4", a=40, b=8),
        make("LDM.4", dst=0, a=6, mods=A64),
        make("STM.1", a=6, b=0, mods=A64),
        make("MOVM", dst=0, a=1),
        make("EXIT"),
    ]
    kinds = [
        access((), wavefronts=4),
        access((), wavefronts=5),
        access((), wavefronts=4),
        access(range(16), wavefronts=4),
        access(range(4)),
    ]
    warps = [warp([0], kinds) for _ in range(24)]
    timing, _ = run(chip, instructions, warps, warps_per_block=4)
    twin = time_launch(chip, *(getattr(launch(encode(instructions)).module, name) for name in ("code", "load_base")),
                       launch(encode(instructions)).function, 128, warps)  # fmt: skip
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert timing.end_cycle == twin.end
    hmma = 16 * 8 * 16 // chip.tensor["f16"]
    assert timing.end_cycle > 24 // (4 * chip.sms) * 2 * hmma  # each partition has that many warps' worth


def test_textures_and_surfaces(tmp_path: Path):
    """Fetches fill the queue and go through the L1, queries only take the queue, stores and reductions go to the L2."""
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS["a100"])
    chip = load_chip(path)
    instructions = [
        make("TEX.2D", dst=0, a=1, b=20),
        make("TEX.3D.LEVEL", dst=4, a=1, b=24),
        make("TLD4.2D", dst=8, a=1, b=20),
        make("TXQ", dst=12, a=1, b=255),
        make("SULD.2D.V2.32", dst=14, a=2, b=20),
        make("FADD", dst=0, a=0, b=4),
        make("IADD", dst=12, a=12, b=14),
        make("SUST.2D.32", a=2, b=20, c=0),
        make("SURED.ADD.1D.U32", a=2, b=20, c=12),
        make("EXIT"),
    ]

    def accesses(k):
        return [
            access([k, k + 8, k + 40], wavefronts=8),
            access(range(k, k + 60, 3), wavefronts=16),
            access([k, k + 1], wavefronts=8),
            access([k + 1, k + 2, 900], wavefronts=2),
            access([k + 5]),
            access([k % 5], conflicts=7),
        ]

    warps = [warp([0], accesses(3 * number)) for number in range(24)]
    timing, _ = run(chip, instructions, warps, warps_per_block=4)
    job = launch(encode(instructions))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 128, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert timing.end_cycle == twin.end


@pytest.mark.parametrize("lines", [(9, 400), (400, 9), (400, 500), (500, 400)])
def test_two_loads_in_one_folded_register(tmp_path: Path, lines):
    """Line 9 is in the L1. Which load comes last is not known while both are on their way: the pair has two entries,
    and each gets its cycle.
    """
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS["a100"])
    chip = load_chip(path)
    instructions = [
        make("LDG.32", dst=2, a=20, mods=A64),
        make("FADD", dst=3, a=2, b=2),
        make("LDG.32", dst=12, a=20, mods=A64),
        make("LDG.32", dst=13, a=20, mods=A64),
        make("PACK.64", dst=4, a=12, b=13),
        make("DADD", dst=5, a=4, b=4),
        make("EXIT"),
    ]
    warps = [warp([0], [access([4 * 9]), *(access([4 * line]) for line in lines)])]
    timing, _ = run(chip, instructions, warps)
    job = launch(encode(instructions))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert timing.end_cycle == twin.end


@pytest.mark.parametrize("chip_name", ["a100", "narrow"])
def test_atomics_of_floats_and_of_many_lanes(tmp_path: Path, chip_name):
    """Lanes on one word, on the words of a sector and on several lines, as integers, floats, doubles and pairs."""
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS[chip_name])
    chip = load_chip(path)
    names = ("REDG.ADD.U32", "REDG.ADD.F32", "ATOMG.ADD.F64", "REDG.ADD.F16X2", "ATOMG.CAS.B32", "REDG.ADD.V4.F32")
    shapes = (([0], 32, 32), ([0], 32, 4), ([0, 1, 2, 3], 32, 1), ([0, 4, 5, 9], 17, 3), (range(0, 80, 3), 32, 2))
    code = [make(name, dst=4 * ("ATOM" in name), a=20, b=8, c=12, mods=A64) for name in names for _ in shapes]
    warps = [warp([0], [access(s, lanes=n, conflicts=c) for _ in names for s, n, c in shapes]) for _ in range(6)]
    code.append(make("EXIT"))
    timing, _ = run(chip, code, warps)
    job = launch(encode(code))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert timing.end_cycle == twin.end


def test_slow_paths(tmp_path: Path):
    """Divisions and a root in a loop, with a record each that says how many slots more a warp takes, in odd and even
    numbers.
    """
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS["a100"])
    chip = load_chip(path)
    instructions = [
        make("FADD", dst=0, a=1, b=2),
        make("FDIV", dst=3, a=0, b=1),  # block 1, a loop, begins here
        make("FSQRT", dst=4, a=3),
        make("FFMA", dst=5, a=4, b=3, c=5),
        make("FDIV", dst=6, a=1, b=2),
        make("BRA", guard=0, imm=-5 * 16),
        make("EXIT"),
    ]
    blocks = [0, 1, 1, 1, 2]
    warps = [
        warp(blocks, [access((), conflicts=slots) for slots in (28 * (k % 3), 7, k, 0, 96, 39, 21 * (k & 1), 0, k)])
        for k in range(16)
    ]
    timing, _ = run(chip, instructions, warps, warps_per_block=4)
    job = launch(encode(instructions))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 128, warps)
    extra = sum(record[5] for _, accesses, _ in warps for record, _ in accesses)
    rows = sum(16 * (3 if 1 <= k < 6 else 1) * instruction.op.slots for k, instruction in enumerate(instructions))
    assert timing.issue_slots == twin.counts["issue_slots"] == rows + extra
    assert ledger_of(timing) == dict(twin.ledger)
    assert timing.end_cycle == twin.end
