"""The trace cells of the readable timing model: what they take, and in which order. Written independently of
gpuprof.timing.units.sampler.
"""

from gpuprof.isa.row import PIPES
from gpuprof.isa.stalls import INDEX
from tests.readable.fifo import Way

MASK_64 = (1 << 64) - 1
BRANCHES = ("branch", "branch_indirect", "call", "call_indirect", "return")
KINDS = {  # of event, by what an instruction does
    "branch": BRANCHES,
    "divergent_branch": (*BRANCHES, "exit"),
    "call": ("call", "call_indirect"),
    "barrier": ("bar_sync", "bar_red", "bar_arrive"),
}


def splitmix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK_64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK_64
    return x ^ x >> 31


class AllCells:
    """Cells that watch the same run, each set in its own way: they do not touch what they watch."""

    def __init__(self, gpu, samplings, record_nbytes):
        self.of = [Cells(gpu, sampling, record_nbytes) for sampling in samplings]

    def count(self, *event):
        for cells in self.of:
            cells.count(*event)

    def issued(self, *event):
        for cells in self.of:
            cells.issued(*event)

    def cycle(self, *event):
        for cells in self.of:
            cells.cycle(*event)

    def drain(self, sm, t):
        for cells in self.of:
            cells.way.cycle(sm, t)

    def waits(self):
        return any(cells.way.waits() for cells in self.of)


class Cells:
    """One cell per SM. `sampling` is a timing.sampling.configuration.Sampling."""

    def __init__(self, gpu, sampling, record_nbytes):
        self.gpu, self.sampling = gpu, sampling
        self.counters = []
        self.way = Way(gpu, sampling, record_nbytes)
        self.events = {sm.number: -sampling.phase_cycles for sm in gpu.sms}
        self.started = {}  # SM -> cycle, warp, pc: where an event has the cell take a sample
        self.taken = dict.fromkeys(self.events, 0)

    @property
    def samples(self):
        return self.way.samples

    @property
    def dropped(self):
        return self.way.lost_in_fifo.total() + self.way.lost_in_buffer.total()

    # ---- what starts a cell
    # --------------------------------------------------------------------------------------------------------

    def count(self, sm, kind, n, t, warp, pc=None):
        """n events of a kind, which the cell sees in cycle t."""
        if kind != self.sampling.trigger:
            return
        starts = range(self.events[sm.number] + 1, self.events[sm.number] + n + 1)
        self.events[sm.number] += n
        if any(number % self.sampling.every == 0 for number in starts) and self.started.get(sm.number, (-1,))[0] != t:
            self.started[sm.number] = (t, warp, pc)

    def issued(self, sm, warp, instruction, last_slot, before, t):
        """A warp has issued; `before` are its lanes then."""
        self.count(sm, "inst_issued", 1, t, warp)
        if last_slot:
            for kind, semantics in KINDS.items():
                left = warp.mask & before
                if instruction.op.semantics in semantics and (kind != "divergent_branch" or left not in (0, before)):
                    self.count(sm, kind, 1, t, warp)

    # ---- what it takes ---------------------------------------------------------------------------

    def cycle(self, sm, seen, t):
        """`seen`: of each warp (partition, lane, warp, reasons, pc, mask) as they were before the cycle's issues."""
        sampling = self.sampling
        period, phase = sampling.period_cycles, sampling.phase_cycles
        when, warp, pc = self.started.get(sm.number, (-1, None, None))
        if not (period and t % period == phase) and when != t:
            return
        partitions = sm.partitions if sampling.partition < 0 else [sm.partitions[sampling.partition]]
        scope = [one for one in seen if one[0] in partitions]
        scope.sort(key=lambda one: (sm.partitions.index(one[0]), one[1]))
        taken = getattr(self, sampling.mode.replace("-", "_"))(sm, scope, partitions, t, warp)
        kept = [self.gpu.grid_of(one[2]) for one, n in taken if self.write(sm, one, n, t, pc)]
        if kept:
            self.counters.append(self.counted(sm, seen, t, kept[0]))
        self.taken[sm.number] += 1

    def random(self, sm, scope, partitions, t, warp):
        return [(self.draw(sm.number, scope, t), len(scope))] if scope else []

    def draw(self, unit, warps, t):
        return warps[splitmix(splitmix(splitmix(self.sampling.seed) ^ unit) ^ t) % len(warps)]

    def round_robin(self, sm, scope, partitions, t, warp):
        period = self.sampling.period_cycles
        turn = (t - self.sampling.phase_cycles) // period if period else self.taken[sm.number]
        slots = [(partition, lane) for lane in range(len(partitions[0].lanes)) for partition in partitions]
        return [(one, len(scope)) for one in scope if one[:2] == slots[turn % len(slots)]]

    def all(self, sm, scope, partitions, t, warp):
        return [(one, len(scope)) for one in scope]

    def stalled(self, sm, scope, partitions, t, warp):
        found = []
        for partition in partitions:
            there = [one for one in scope if one[0] is partition]
            if there and partition.issued != t:
                unit = len(self.gpu.sms) + sm.number * len(sm.partitions) + sm.partitions.index(partition)
                found.append((self.draw(unit, there, t), len(there)))
        return found

    def trigger(self, sm, scope, partitions, t, warp):
        return [(one, len(scope)) for one in scope if one[2] is warp]

    def counted(self, sm, seen, t, grid):
        """What the SM's counters say after the cycle's issues, and those of a grid."""
        counts = self.gpu.counts
        busy = {
            name
            for p in sm.partitions
            for name, port in p.ports.items()
            if name != "none" and (port.issued == t or port.free > t)
        }
        return (
            t,
            sum(1 << PIPES.index(name) for name in busy),
            sm.number,
            sum(p.issued == t for p in sm.partitions),
            sum(reasons == ["not_selected"] for _, _, _, reasons, _, _ in seen),
            len(seen),
            *(counts[name, grid, sm.number] for name in ("l1_sectors", "l1_hits")),
            *(counts[name, grid] for name in ("l2_sectors", "l2_hits")),
            32 * (counts["dram_read_sectors", grid] + counts["dram_write_sectors", grid]),
            grid,
        )

    def wanted(self, sm, warp, t):
        """Each number of the sample is in the filter's range for it, or in one of them. A launch that is alone starts
        in cycle 0.
        """
        job = getattr(warp.block, "job", None)
        filter = job.filter if job and job.filter is not None else self.sampling.filter
        numbers = {
            "sm": sm.number,
            "block": warp.block.index,
            "warp": warp.number,
            "cycles": t,
            "launch_cycles": t - (job.start if job else 0),
        }
        spans = {name: getattr(filter, name) for name in numbers}
        return not filter.off and all(
            not spans[name] or any(a <= n <= b for a, b in spans[name]) for name, n in numbers.items()
        )

    def write(self, sm, one, n, t, pc):
        """Whether the record is wanted and has a place."""
        partition, lane, warp, reasons, stands_at, mask = one
        if not self.wanted(sm, warp, t):
            return False
        issued, scheduler = warp.issued == t, partition.issued == t
        numbers = [INDEX["selected"]] if issued else sorted(INDEX[name] for name in reasons)
        field = numbers[0] if self.sampling.stall == "index" else sum(1 << number for number in numbers)
        slot = lane * len(sm.partitions) + sm.partitions.index(partition)
        shown = pc if pc is not None and self.sampling.mode == "trigger" else stands_at
        flags = int(issued) + 2 * int(scheduler)
        grid = self.gpu.grid_of(warp)
        record = (
            t,
            sm.number,
            slot,
            self.gpu.address(shown),
            field,
            warp.block.index,
            mask,
            flags,
            warp.number,
            n,
            grid,
        )
        return self.way.put(sm, grid, record, t)
