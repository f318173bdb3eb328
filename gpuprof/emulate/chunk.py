"""Runs whole blocks together until all their lanes have exited, a segment of their trace at a time.

Lanes at the same position form a group; the group that has advanced least (deepest call first, then earliest in the
program's order) runs one basic block at a time. Groups that meet at the same position become one.

Between two segments the chunk rests with all its registers. An order for the next one may name its warps: the others
sleep, so that the trace of warps that run later, or more slowly, on the chip does not pile up. A warp that waits for
others wakes them.
"""

from collections.abc import Iterator

import numpy as np

from gpuprof.emulate.blocks import Block, CompiledModule
from gpuprof.emulate.collectives.barriers import Barriers
from gpuprof.emulate.collectives.cluster import ClusterBarrier
from gpuprof.emulate.collectives.mbarrier import Mbarriers
from gpuprof.emulate.collectives.rendezvous import lanes_outside, waiting_lanes
from gpuprof.emulate.core.call_stack import CallStack
from gpuprof.emulate.core.contended_loops import Crowd, Key
from gpuprof.emulate.core.faults import fault
from gpuprof.emulate.core.lanes import FULL, WARP, Lanes
from gpuprof.emulate.core.late_accesses import RangesFunction, WrongRange
from gpuprof.emulate.core.pacing import Pacing
from gpuprof.emulate.scalar import special
from gpuprof.emulate.warp_sync import Meetings
from gpuprof.isa.families.cluster import OFFSET_MASK

# One group may run this many basic blocks while others wait; then, for as many blocks, all take turns. A block with an
# instruction that waiting loops are made of (compare-and-swap, volatile load, nanosleep) counts SPIN_WEIGHT times,
# unless lanes left.
PATIENCE_BLOCKS = 20_000
SPIN_WEIGHT = 400
LEAST_SHARE = 1 / 64  # of a segment, when few are awake: beginning one has its price, too


class Chunk:
    """`n_blocks` blocks of a launch from `first_block` on. `live` uint32 (warps,): lanes that have not exited."""

    is_watched = False  # True when what memory instructions access has to be said, range by range

    def __init__(self, run, first_block: int, n_blocks: int):
        self.launch = run.launch
        self.module: CompiledModule = run.module
        self.chip = run.chip
        self.tally = run.tally
        self.pulse = run.counters.pulse
        self.first_block = first_block
        self.n_blocks = n_blocks
        self.warps_per_block = run.warps_per_block
        self.n_warps = n_blocks * self.warps_per_block
        self.max_warp_instructions = run.max_warp_instructions
        self.file = self.module.launched.take_registers(self.n_warps * WARP, run.register_counts, run.constants)
        self.direct_lists = self.file.direct_lists
        self.live = np.tile(live_masks(self.launch.threads_per_block, self.warps_per_block), n_blocks)
        self.spaces = run.spaces(self)
        self.calls = CallStack(self.n_warps)
        self.barriers = Barriers(self)
        self.cluster = run.launch.blocks_of_cluster  # blocks in one
        self.cluster_barrier = ClusterBarrier(self)
        self.mbarriers = Mbarriers(self)
        self.log = run.log
        self.signals = run.signals
        self.executed = np.zeros(self.n_warps, np.int64)  # instructions, by warp
        self.total = 0
        self.next_check = run.max_warp_instructions
        self.ready: dict[tuple[int, int], list[Lanes]] = {}
        self.block_of_rank = self.module.block_of_rank
        self.rows: dict[str, np.ndarray] = {}
        self.wide_rows: dict[tuple[int, int], np.ndarray] = {}
        self.spent = 0
        self.crowd = Crowd()
        self.held: dict[Key, list[Lanes]] = {}  # in front of a warp operation; see `rendezvous`
        self.meetings = Meetings(self)
        self.together = run.takes_turns  # its blocks may wait for each other in ways that are not seen here
        self.awake: np.ndarray | None = None  # uint32 (warps,): the lanes that run on; None: all
        self.share = 1.0  # of the warps that are awake
        self.asleep: dict[Key, list[Lanes]] = {}
        self.pacing = Pacing(self, run.clocks) if run.clocks else None
        # Groups that run in the order of time are seldom held all at once. Then only turns of waiting loops exhaust the
        # patience: lanes of a warp that run on their own would not meet again.
        self.step_weight = 0 if self.pacing else 1
        self.is_due = False  # to rest before the next step, whatever the log holds

    # Scheduling

    def rank(self, block: int) -> int:
        return self.module.ranks.get(block, -1)

    def push(self, lanes: Lanes, block: int) -> None:
        """Makes `lanes` continue with `block`."""
        key = (-lanes.depth, self.rank(block))
        waiting = self.ready.get(key)
        if waiting is None:
            self.ready[key] = [lanes]
        else:
            waiting.append(lanes)

    def begin(self) -> None:
        """Puts all lanes before the kernel's first block."""
        everyone = Lanes(self, np.arange(self.n_warps, dtype=np.int64), self.live.copy(), 0, direct=True)
        self.push(everyone, self.module.graph.block_at[self.launch.function.first])

    def run(self, segment_nbytes: int) -> Iterator[None]:  # noqa: C901  # a case for each kind of instruction
        """Runs to the end. Pauses between two steps when the log has grown to `segment_nbytes` (while some warps sleep,
        to the awake ones' share of that), when it `is_due`, and when all awake warps have exited.
        """
        ready = self.ready
        while True:
            if self.is_due or self.log.nbytes >= segment_nbytes * self.share:
                yield
            if self.mbarriers.changed:
                self.mbarriers.release()
            if self.crowd.parked:
                self.crowd.release(ready, everyone=self.spent >= PATIENCE_BLOCKS)
            if not ready and self.pacing is not None and self.pacing.advance():
                continue
            # Other lanes run first. Patience keeps a loop that spins from holding up lanes that could meet.
            if self.meetings.stirred and (not ready or self.spent >= PATIENCE_BLOCKS) and self.meetings.meet():
                continue
            if not ready and self.asleep:
                if (self.live & self.awake).any():
                    self.wake()  # they wait, it seems for the others
                else:
                    yield
                continue
            if not ready:
                # mbarrier.try_wait may give up after a time limit (PTX ISA), so waits end in vain before a deadlock is
                # called.
                if self.mbarriers.time_out():
                    continue
                if self.meetings.paused:
                    raise self.meetings.deadlock()
                if self.barriers.waiting:
                    raise self.barriers.deadlock()
                # A lane that waits there has arrived, so lanes are missing only while others can run (ClusterBarrier).
                assert not self.cluster_barrier.waiting
                if self.pacing is not None:
                    self.pacing.end()
                return
            key = next(iter(ready)) if len(ready) == 1 else self.choose()
            groups = ready.pop(key)
            if self.held:
                groups += self.held.pop(key, [])
            x = groups[0] if len(groups) == 1 else self.merge(groups)
            if self.awake is not None and not self.stays_awake(key, x):
                continue
            block = self.block_at(key)
            if self.pacing is not None and not self.pacing.passes(key, block, x):
                continue
            if block.members and not self.gathered(key, block, x):
                continue
            if block.uncertain and (block.meets_guarded or (x.active is not None and lanes_outside(x).any())):
                self.meetings.begin(x, block)
            else:
                self.step(key, block, x)

    def wake(self, warps: np.ndarray | None = None) -> None:
        """Wakes the lanes of these warps, bool (n_warps,), or None for all, and puts the others to sleep. It is a hint:
        a warp that has to wait for others wakes them (`call`), and when the awake ones cannot advance by themselves,
        all are woken.
        """
        self.awake, self.share = None, 1.0
        # Warps that spin on each other's values wake no other warp, so all of them have to run on (docs/model.md).
        if warps is not None and not self.together and not warps.all():
            self._set_awake(np.where(warps, FULL, np.uint32(0)))
            for x in (*self.barriers.waiters(), *self.cluster_barrier.waiters(), *self.mbarriers.waiters()):
                self.call(x.step_warps[self.awake[x.step_warps] != 0])
        self._rouse()

    def call(self, warps: np.ndarray) -> None:
        """These warps wait for others of their blocks, or clusters: all warps of those blocks are woken."""
        if self.awake is None or not len(warps):
            return
        groups = self.awake.reshape(-1, self.cluster * self.warps_per_block).copy()
        mine = np.unique(warps // groups.shape[1])
        if groups[mine].all():
            return
        groups[mine] = FULL
        self._set_awake(groups.reshape(-1))
        self._rouse()

    def _set_awake(self, awake: np.ndarray) -> None:
        self.awake, self.share = awake, max(LEAST_SHARE, float(np.count_nonzero(awake)) / self.n_warps)

    def _rouse(self) -> None:
        """Makes sleeping lanes ready again: each looks whether it still has to sleep (`stays_awake`)."""
        if not self.asleep:
            return
        self.meetings.stirred = True  # lanes that slept have not been considered yet
        for key, groups in self.asleep.items():
            self.ready.setdefault(key, []).extend(groups)
        self.asleep.clear()

    def stays_awake(self, key: Key, lanes: Lanes) -> bool:
        """Puts to sleep the lanes of `lanes` that do not run on; False when that is all of them."""
        sleepy = lanes.masks & ~self.awake[lanes.warps]
        if not sleepy.any():
            return True
        everyone = bool((sleepy == lanes.masks).all())
        self.asleep.setdefault(key, []).append(lanes if everyone else lanes.split_off(sleepy))
        return not everyone

    def block_at(self, key: Key) -> Block:
        return self.module.blocks[self.block_of_rank[key[1]]]

    def gathered(self, key: Key, block: Block, lanes: Lanes) -> bool:
        """Holds the lanes of `lanes` that wait for others of their warp; False when that is all of them."""
        waiting = waiting_lanes(lanes, block.members)
        if waiting is None:
            return True
        self.meetings.stirred = True
        if (waiting == lanes.masks).all():
            self.held[key] = [lanes]
            return False
        self.held[key] = [lanes.split_off(waiting)]
        return True

    def choose(self) -> tuple[int, int]:
        """The position that has advanced least; now and then the one that has waited longest, so that no lane waits for
        ever.

        Python's dicts keep the order of insertion, so the first key of `ready` has waited longest.
        """
        if self.spent < PATIENCE_BLOCKS:
            return min(self.ready)
        if self.spent > 2 * PATIENCE_BLOCKS:
            self.spent = 0
            return min(self.ready)
        return next(iter(self.ready))

    def merge(self, groups: list[Lanes]) -> Lanes:
        """Merges the lanes of all the groups into one set."""
        masks = np.zeros(self.n_warps, np.uint32)
        for group in groups:
            group.flush()
            masks[group.warps] |= group.masks
        return self.group(masks, groups[0].depth)

    def group(self, masks: np.ndarray, depth: int) -> Lanes:
        """A set of the lanes of `masks`, uint32 (all warps,), whose registers are all in the chunk's rows."""
        warps = np.flatnonzero(masks)
        # A set of all lanes works on the chunk's own rows; any other copies them (Lanes.prepare).
        if 2 * len(warps) > self.n_warps and (masks == self.live).all():
            return Lanes(self, np.arange(self.n_warps, dtype=np.int64), masks, depth, direct=True)
        return Lanes(self, warps, masks[warps], depth)

    def is_everyone(self, lanes: Lanes) -> bool:
        """True when `lanes` holds all lanes that have not exited."""
        return int(np.bitwise_count(self.live).sum()) == lanes.n_active

    def step(self, key: Key, block: Block, lanes: Lanes) -> None:
        """Runs one basic block."""
        # When fewer lanes come than the last time some got through, so the loop makes progress and does not spin.
        spins = block.spins and not self.crowd.admit(key, lanes)
        self.count_step(block, lanes)
        self.spend(spins)
        self.execute(block, lanes)

    def execute(self, block: Block, lanes: Lanes) -> None:
        lanes.prepare(block.needs, block.fresh, block.writes)
        for op in block.fused:
            op(lanes)
        block.end(lanes)

    def count_step(self, block: Block, lanes: Lanes) -> None:
        self.log.step(block.index, lanes.step_warps, lanes.step_masks)
        if self.pacing is not None:
            self.pacing.ran(block, lanes.step_warps, lanes.n_active)
        if self.tally.is_wanted:
            self.tally.block(block.index, len(lanes.step_warps), lanes.n_active)
        self.pulse.warp_instructions += len(lanes.step_warps) * block.n_instructions
        self.pulse.at = block.first
        if len(lanes.step_warps) == self.n_warps:
            self.executed += block.n_instructions
        else:
            self.executed[lanes.step_warps] += block.n_instructions
        self.total += block.n_instructions
        if self.total >= self.next_check:
            self.check_watchdog(block, lanes)

    def spend(self, spins: bool) -> None:
        """Counts towards the patience of the lanes that wait."""
        if self.ready or self.crowd.parked or self.held or self.meetings.paused:
            self.spent += SPIN_WEIGHT if spins else self.step_weight
        else:
            self.spent = 0

    def check_watchdog(self, block: Block, lanes: Lanes) -> None:
        most = int(self.executed.max())
        if most > self.max_warp_instructions:
            warp = int(np.argmax(self.executed))
            text = (
                f"still running after {self.max_warp_instructions} instructions of a warp; if this is no endless loop, "
                "raise the limit with --max-instructions"
            )
            raise fault(self, block.first, text, warp, kind="timeout")
        # No warp can pass the limit before so many more instructions have run in all: most steps need not look.
        self.next_check = self.total + self.max_warp_instructions - most + 1

    # What ops ask for

    def leave(self, lanes: Lanes) -> None:
        """All lanes of `lanes` exit."""
        self.exited(lanes.warps, lanes.masks)

    def exited(self, warps: np.ndarray, masks: np.ndarray) -> None:
        # No lane waits for lanes that have exited: barriers count them as arrived, member masks leave them out.
        self.live[warps] &= ~masks
        self.meetings.stirred = True
        self.barriers.release()
        self.cluster_barrier.exited()

    def special(self, name: str, lanes: Lanes) -> np.ndarray:
        """The row of a special register."""
        if name in special.CHANGING:
            return special.CHANGING[name](self, lanes)
        row = self.rows.get(name)
        if row is None:
            row = np.broadcast_to(special.FIXED[name](self), (self.n_warps, WARP))
            row = self.rows[name] = np.ascontiguousarray(row)
        return row.reshape(-1) if lanes.direct else row[lanes.warps].reshape(-1)

    def wide_constant(self, ref, value: np.ndarray) -> np.ndarray:
        row = self.wide_rows.get(ref)
        if row is None:
            row = self.wide_rows[ref] = np.full(self.n_warps * WARP, value)
        return row

    def count_guarded(self, at: int, held: np.ndarray) -> None:
        if self.tally.is_wanted:
            self.tally.guard(at, int(np.count_nonzero(held)))

    def count_slow_path(self, at: int, slots: np.ndarray) -> None:
        """Counts issue slots of instruction `at` beyond those of its row. `slots`: one number for each warp that runs
        it.
        """
        self.tally.slow_path(at, int(slots.sum()))

    def count_divergence(self, at: int, masks: np.ndarray, rest: np.ndarray) -> None:
        if self.tally.is_wanted:
            self.tally.divergence(at, int(np.count_nonzero((masks != 0) & (rest != 0))))

    def count_access(self, site, space, totals) -> None:
        if self.tally.is_wanted:
            name = next(name for name, known in self.spaces.items() if known is space)
            self.tally.access(site.at, name, totals)

    def touches(self, at: int, ranges: RangesFunction) -> None:
        """Reports ranges of memory that instruction `at` accesses and that its registers do not determine."""
        footprint = self.spaces["global"].footprint
        if footprint is not None:
            for touched in ranges():
                footprint.touched(touched)

    def refuses(self, at: int, wrong: WrongRange) -> bool:
        """True when a listener lets instruction `at` continue without the ranges that it must not access."""
        return False

    def refused(self, at: int) -> np.ndarray | None:
        """bool, an element of each row of the lanes that now execute instruction `at`: which must not access memory;
        None for none.
        """
        return None

    def count_pattern(self, site, space, address: np.ndarray, masks: np.ndarray) -> None:
        """Counts where the lanes are to each other, in the space whose banks it matters for."""
        if self.tally.is_wanted and space is self.spaces["shared"]:
            # An address of a cluster's other block has the same banks as one's own.
            self.tally.pattern(site.at, address & OFFSET_MASK, masks, site.nbytes)


def live_masks(threads: int, warps: int) -> np.ndarray:
    """uint32 (warps,): the lanes of each warp of a block that have a thread."""
    masks = np.full(warps, FULL)
    if threads % WARP:
        masks[-1] = (1 << threads % WARP) - 1
    return masks
