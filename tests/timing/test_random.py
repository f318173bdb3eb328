"""Random chips, random batches and traces cut at random places: the compiled model beside its readable twins, and
beside itself.
"""

from collections import deque

import numpy as np
import pytest

from gpuprof.chips import altered, list_chips, load_chip
from gpuprof.chips.fields import BY_NAME
from gpuprof.emulate.trace_log.trace import Order
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import encode
from gpuprof.isa.stalls import NAMES
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.machine import power_on
from gpuprof.timing.state.static_program import static_program
from tests.readable.blame import causes_of
from tests.readable.grids import Job, time_grids
from tests.readable.timing import ledger_of, recorded_stalls, stalls_of, time_launch
from tests.support.seeds import seeds
from tests.support.timing_support import launch, piece, run
from tests.timing.test_timing import random_kernel

VARIED = (
    "warp_slots", "max_blocks", "dispatch_units", "branch_cycles", "barrier_cycles", "l0i_lines", "l1i_lines",
    "l0i_miss_cycles", "constant_lines", "constant_ways", "constant_l15_lines", "constant_l15_ways",
    "constant_l15_line_nbytes", "constant_cold_cycles", "constant_segment_cycles", "fp64_queue_depth",
    "instruction_line_nbytes", "queue_depth", "queue_hold_cycles", "address_cycles", "lsu_cycles", "tag_pass_cycles",
    "tag_lookup_cycles",
    "l1_ways", "l1_mshrs", "noc_nbytes_per_cycle", "l2_slices", "l2_ways", "l2_dirty_ways", "l2_near_cycles",
    "l2_store_cycles", "l2_spread_cycles",
    "dram_channels", "dram_banks",
    "dram_row_nbytes", "dram_row_cycle_ns", "dram_activate_ns", "dram_row_open_ns", "dram_turn_ns", "dram_cycles",
    "dram_posted_sectors", "l2_join_lines", "block_launch_cycles", "distributor_cycles", "max_active_grids",
)  # fmt: skip


def random_chip(random):
    """A chip of two SMs some of whose numbers are anywhere in their range, more often near its lower end."""
    chip = altered(load_chip(str(random.choice(list_chips()))), {"sms": 2, "prefetch_lines": 0}, "test")
    for name in random.choice(VARIED, 8, replace=False).tolist():
        field = BY_NAME[name]
        value = field.low + (field.high - field.low) * float(random.random()) ** 3
        try:
            chip = altered(chip, {name: int(value) if field.kind == "int" else value}, "test")
        except UsageError:  # numbers that do not go together
            continue
    return chip


@pytest.mark.parametrize("seed", seeds(6, 1))
def test_a_launch(seed):
    random = np.random.default_rng(seed)
    chip, cluster = random_chip(random), int(random.choice([1, 2, 4]))
    code, warps, per_block = random_kernel(200 + seed, 24, 3)
    timing, _ = run(chip, code, warps, warps_per_block=per_block, cluster=cluster)
    job = launch(encode(code))
    twin = time_launch(
        chip, job.module.code, job.module.load_base, job.function, 32 * per_block, warps, cluster=cluster
    )
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert (timing.end_cycle, timing.issue_slots) == (twin.end, twin.counts["issue_slots"])
    names = ("l1_sectors", "l1_hits", "l2_sectors", "l2_hits")
    assert [getattr(timing, name) for name in names] == [twin.counts[name] for name in names]
    assert [timing.dram_read_nbytes, timing.dram_write_nbytes] == [
        32 * twin.counts[f"dram_{way}_sectors"] for way in ("read", "write")
    ]


def random_batch(random, n_grids):
    """(code, warps, warps per block, what the grid waits for) of grids that wait for earlier ones; the first does not
    start at cycle 0.
    """
    specs = []
    for number in range(n_grids):
        per_block = int(random.choice([1, 2, 4]))
        code, warps, _ = random_kernel(int(random.integers(1 << 20)), per_block * int(random.integers(1, 7)), per_block)
        before = [k for k in range(number) if random.random() < 0.3]
        signals = {k for k in before if random.random() < 0.4}
        how = {
            "after": tuple(k for k in before if k not in signals),
            "after_signal": tuple(sorted(signals)),
            "priority": int(random.integers(-1, 2)),
            "launch_cycles": int(random.choice([1, 63, 65, 1000])),
        }
        specs.append((code, warps, per_block, how))
    return specs


def job_of(index, code, warps, per_block, load_base):
    job = launch(encode(code), blocks=len(warps) // per_block, threads=32 * per_block, index=index)
    job.module.load_base = load_base
    return job


@pytest.mark.parametrize("seed", seeds(4, 1))
def test_a_batch(seed):
    random = np.random.default_rng(100 + seed)
    chip, grids, jobs, load_base = random_chip(random), [], [], 0x1000
    for index, (code, warps, per_block, how) in enumerate(random_batch(random, 4)):
        job = job_of(index, code, warps, per_block, load_base)
        grids.append(Grid(job, iter([piece(warps, per_block)]), **how))
        jobs.append(Job(job.module.code, job.function, 32 * per_block, warps, **how))
        load_base += 16 * len(code)
    timings = simulate_batch(power_on(chip), grids, Sampling(), lambda _: None, 1 << 40)
    twin = time_grids(chip, jobs)
    assert [(timing.start_cycle, timing.end_cycle) for timing in timings] == [(job.start, job.end) for job in jobs]
    ledger = np.concatenate([timing.ledger for timing in timings])
    assert {(pc, NAMES[k]): int(n) for pc, row in enumerate(ledger) for k, n in enumerate(row) if n} == dict(
        twin.ledger
    )
    assert recorded_stalls(*timings) == stalls_of(twin)
    assert causes_of(*timings) == twin.blame.rows()


class ToOrder:
    """The pieces of a grid's trace as they are ordered, of a few blocks each, and of as many steps as chance has it."""

    def __init__(self, random, chip, code, warps, per_block):
        self.random, self.warps, self.per_block = random, warps, per_block
        self.due = static_program(encode(code), (), chip, 0x1000).accesses_per_block
        self.orders, self.next_block, self.most, self.under_way = deque(), 0, 0, {}

    def order(self, order: Order) -> None:
        self.orders.append(order)

    def __iter__(self):
        while self.orders:
            order = self.orders.popleft()
            first = order.first_block
            if first < 0:
                first, left = self.next_block, len(self.warps) // self.per_block - self.next_block
                if not left:
                    continue
                n_blocks = int(self.random.integers(1, min(6, left) + 1))
                self.next_block += n_blocks
                rows = slice(first * self.per_block, (first + n_blocks) * self.per_block)
                self.under_way[first] = [0, [tuple(map(list, warp)) for warp in self.warps[rows]]]
            yield self.piece(first, order.warps)

    def piece(self, first, wanted):
        number, rests = self.under_way[first]
        self.under_way[first][0] += 1
        self.most = max(self.most, number + 1)
        parts = []
        for row, (blocks, accesses, masks) in enumerate(rests):
            n = int(self.random.integers(1, 9)) if wanted is None or wanted[row] else 0
            m = int(sum(self.due[block] for block in blocks[:n]))
            parts.append((blocks[:n], accesses[:m], masks[:n]))
            del blocks[:n], masks[:n], accesses[:m]
        return piece(parts, self.per_block, first)._replace(
            final=np.array([not blocks for blocks, _, _ in rests]), number=number
        )


@pytest.mark.parametrize("seed", seeds(3, 1))
def test_where_pieces_end_does_not_matter(seed):
    random = np.random.default_rng(300 + seed)
    chip, specs = random_chip(random), random_batch(random, 3)
    found, cut = [], []
    for way in range(3):
        grids, records, load_base = [], [], 0x1000
        for index, (code, warps, per_block, how) in enumerate(specs):
            job = job_of(index, code, warps, per_block, load_base)
            pieces = ToOrder(random, chip, code, warps, per_block)
            cut.append(pieces)
            grids.append(
                Grid(job, iter(pieces), order=pieces.order, **how)
                if way
                else Grid(job, iter([piece(warps, per_block)]), **how)
            )
            load_base += 16 * len(code)
        sampling = Sampling(64, "all", fifo_depth=64, drain_cycles=1)
        timings = simulate_batch(
            power_on(chip), grids, sampling, lambda some, records=records: records.append(some.tobytes()), 1 << 40
        )
        found.append(
            (b"".join(records), [(timing.start_cycle, timing.end_cycle, timing.ledger.tobytes()) for timing in timings])
        )
    assert max(pieces.most for pieces in cut) > 1
    assert found[0] == found[1] == found[2]
