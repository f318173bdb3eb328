"""The happens-before order in a launch, after the memory model of the PTX ISA. Compiled by Numba.

A moment of a lane of a warp counts the full barriers of its block (epoch), the synchronisations of its warp (clock),
and the releases of its warp (tick) so far. All accesses of a lane between two of these have one moment. Of two moments

* of one block, the earlier epoch is first;
* of one warp, `known` has the clock up to which a lane knows another;
* otherwise the first must have been published, by a fence or release, before the other's warp acquired. Publishing and
  acquiring take numbers of one sequence. The location of a flag in memory is ignored, so that an order may be assumed
  that does not exist, and never the reverse.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.trace.checkers.races.lane_order import (
    ALL_LANES,
    CLOCK_NOW,
    FENCED,
    KNOWN,
    NOW,
    PRESENT,
    clock_of,
    diverged_row,
    forget_present,
    known_of,
    of_lane,
    unite,
)

# Columns of moments. For an asynchronous operation EPOCH gives the kind of wait. IN_GROUP: for its group; then DONE is
# the moment of the wait for the group, and CLOCK the lanes of the operation, as bits.
# ON_BARRIER: at an mbarrier; then DONE is the sequence number of the first such wait.
# The last two are missing if only barriers order accesses.
BLOCK, WARP, EPOCH, CLOCK, TICK = range(5)
DONE = TICK  # an asynchronous operation is complete or in progress, whatever its warp releases
N_COLUMNS, N_COLUMNS_OF_BARRIERS = 5, 3
IN_GROUP, ON_BARRIER = -1, -2
# Kinds of groups: cp.async; reads of bulk copies; their writes; multiplications of warp groups.
COPIES, BULK_READS, BULK_WRITES, MATRICES = range(4)
N_FAMILIES = 4
N_MOMENTS, SEQUENCE, N_FOUND, N_ACCESSES, N_LOST, N_ROWS, N_WAYS, LAST_WAY = range(8)  # of counts; see `lane_order`
CTA, GPU = 0, 1  # scopes
SYNCED, WAITED = 1, 2  # of due: passed a barrier of the block; waits for publications of others
TICKS, EPOCHS, GROUPS = 16, 64, 32  # that are distinguished; later ones count as the last


class Order(NamedTuple):
    """int32 arrays, except `counts`. First axis: slots of running blocks, or blocks of the grid; then warps, of which
    there are none in arrays that the kernel does not need.
    """

    state: np.ndarray  # (slots, warps, n): see `lane_order`
    diverged: np.ndarray  # (slots, warps)
    by_lane: np.ndarray  # (n, n, 32)
    known: np.ndarray  # (n, 32, 32): how far a lane knows another; no lanes if none waits for others of its warp
    arrived: np.ndarray  # (slots, warps): lanes that wait for others of their warp, as bits
    tick: np.ndarray  # (slots, warps)
    acquired: np.ndarray  # (slots, warps, 2): the sequence number, by scope
    block_acquired: np.ndarray  # (slots, 2): sequence numbers that a barrier of the block passes on
    pending: np.ndarray  # (slots, warps): 1: has read a possible flag, without a fence since then
    due: np.ndarray  # (slots, warps): SYNCED, WAITED
    group: np.ndarray  # (slots, warps, N_FAMILIES): the moment of asynchronous operations without a group
    groups: np.ndarray  # (slots, warps, N_FAMILIES, GROUPS): moments of groups
    n_groups: np.ndarray  # (slots, warps, N_FAMILIES)
    fence_epoch: np.ndarray  # (slots, warps): the epoch of the warp's last proxy fence
    fence_acquired: np.ndarray  # (slots, warps): the sequence number that it had acquired then
    block_fences: np.ndarray  # (slots, 2): the last two epochs in which some thread of the block had a proxy fence
    published: np.ndarray  # (blocks * warps, TICKS, 2): sequence number by scope, 0: not yet
    epoch_published: np.ndarray  # (blocks, EPOCHS): the block's first publication after this epoch
    last_published: np.ndarray  # (blocks,)
    moments: np.ndarray  # (n, N_COLUMNS); number 0 is none
    counts: np.ndarray  # int64 (10,)
    rows: np.ndarray  # (n, 2): accesses, see `access_rows`; number 0 is none
    row_index: np.ndarray  # of the rows, by a hash; longer than they are
    ways: np.ndarray  # (n, 3): how accesses are made; number 0 is none
    way_index: np.ndarray  # of the ways, by a hash


@call_njit
def catch_up(order, slot, warp):
    """Updates the knowledge of a warp that continues after a barrier."""
    due = order.due[slot, warp]
    if due == 0:
        return
    for scope in range(2):
        known = np.int64(order.acquired[slot, warp, scope])
        if due & WAITED:
            known = order.counts[SEQUENCE]
        if due & SYNCED:
            known = max(known, np.int64(order.block_acquired[slot, scope]))
        order.acquired[slot, warp, scope] = known
    order.due[slot, warp] = 0


@call_njit
def present(order, block, slot, warp, lane):
    """The number of a lane's current moment. There must be room for it (`room_for`)."""
    number_now = of_lane(order, PRESENT, slot, warp, lane)
    if number_now != 0:
        return number_now
    epoch, clock = of_lane(order, NOW, slot, warp, lane), clock_of(order, slot, warp, lane)
    row, tick = order.diverged[slot, warp], order.tick[slot, warp] if order.tick.shape[1] != 0 else np.int32(0)
    for other in range(32 if row != 0 else 0):
        number = order.by_lane[row, PRESENT, other]
        if number != 0:
            moment = order.moments[number]
            is_same = moment[EPOCH] == epoch
            if is_same and (len(moment) < N_COLUMNS or (moment[CLOCK] == clock and moment[TICK] == tick)):
                order.by_lane[row, PRESENT, lane] = number
                return number
    number = _new_moment(order, block, warp, epoch, clock, tick)
    if row != 0:
        order.by_lane[row, PRESENT, lane] = number
    else:
        order.state[slot, warp, PRESENT] = number
    return number


@call_njit
def _new_moment(order, block, warp, epoch, clock, tick):
    number = order.counts[N_MOMENTS]
    order.counts[N_MOMENTS] = number + 1
    row = order.moments[number]
    row[BLOCK], row[WARP], row[EPOCH] = block, warp, epoch
    if len(row) == N_COLUMNS:
        row[CLOCK], row[TICK] = clock, tick
    return number


@inline_njit
def is_asynchronous(moments, moment):
    return moments[moment, EPOCH] < 0


@call_njit
def open_group(order, block, slot, warp, lane, family):
    """The moment of a warp's asynchronous operations in progress that have no group yet."""
    if order.group[slot, warp, family] == 0:
        order.group[slot, warp, family] = _new_moment(order, block, warp, IN_GROUP, 0, 0)
    number = order.group[slot, warp, family]
    order.moments[number, CLOCK] |= np.int32(np.uint32(1) << np.uint32(lane))
    return number


@cached_njit
def in_group(order, block, slot, warp, lane, family):
    """`open_group`, callable from Python."""
    return open_group(order, block, slot, warp, lane, family)


@cached_njit
def on_barrier(order, block, warp):
    """A new moment, of an operation that reports to an mbarrier."""
    return _new_moment(order, block, warp, ON_BARRIER, 0, 0)


@inline_njit
def _epoch_and_tick(moments, moment):
    """A group that is treated as complete is its own end: it has no epoch, and no release."""
    if is_asynchronous(moments, moment):
        return np.int32(0), np.int32(0)
    if moments.shape[1] < N_COLUMNS:
        return moments[moment, EPOCH], np.int32(0)
    return moments[moment, EPOCH], min(moments[moment, TICK], np.int32(TICKS - 1))


@call_njit
def is_before(order, moment, lane, block, slot, warp, my_lane):
    """True if an access of a lane at a moment is ordered before the current access of `my_lane` of a warp."""
    moments = order.moments
    if is_asynchronous(moments, moment):
        done = moments[moment, DONE]
        if done == 0 or moments[moment, EPOCH] == ON_BARRIER:
            return 0 < done <= order.acquired[slot, warp, CTA]
        moment = done
    epoch, tick = _epoch_and_tick(moments, moment)
    its_block, its_warp = moments[moment, BLOCK], moments[moment, WARP]
    if its_block == block:
        if epoch < of_lane(order, NOW, slot, warp, my_lane) or (its_warp == warp and lane == my_lane):
            return True
        knows = its_warp == warp and order.known.shape[1] != 0
        if knows and known_of(order, slot, warp, my_lane, lane) > moments[moment, CLOCK]:
            return True
    index = its_block * order.diverged.shape[1] + its_warp
    if index >= len(order.published):  # there are no publications in this kernel
        return False
    by_block, by_gpu = order.published[index, tick, CTA], order.published[index, tick, GPU]
    if its_block == block:
        return 0 < by_block <= order.acquired[slot, warp, CTA]
    acquired = order.acquired[slot, warp, GPU]
    if 0 < by_gpu <= acquired:
        return True
    by_epoch = order.epoch_published[its_block, min(epoch, EPOCHS - 1)]
    if 0 < by_epoch <= acquired:
        return True
    # Another warp of its block has acquired and published it in turn.
    return 0 < by_block <= order.last_published[its_block] and by_block <= acquired


@cached_njit
def pass_barriers(order, masks, slots, warps, absent):
    """Lanes pass a barrier of all threads of their block. absent: uint32 (n,), see `lane_order`."""
    for k in range(len(masks)):
        slot, warp = slots[k], warps[k]
        if masks[k] == 0:
            continue
        if order.acquired.shape[1] != 0:
            _pass_on(order, slot, warp)
        row = diverged_row(order, slot, warp, masks[k], absent[k])
        if row == 0:
            order.state[slot, warp, NOW] += 1
            order.state[slot, warp, PRESENT] = 0
            continue
        for lane in range(32):
            if masks[k] >> np.uint32(lane) & np.uint32(1):
                order.by_lane[row, NOW, lane] += 1
                order.by_lane[row, PRESENT, lane] = 0
        if order.known.shape[1] == 0:
            unite(order, slot, warp, absent[k])


@inline_njit
def _pass_on(order, slot, warp):
    """Passes the warp's acquired sequence numbers on to its block."""
    catch_up(order, slot, warp)
    if order.pending[slot, warp]:
        order.acquired[slot, warp, CTA] = order.acquired[slot, warp, GPU] = order.counts[SEQUENCE]
        order.pending[slot, warp] = 0
    passed_on, own = order.block_acquired[slot], order.acquired[slot, warp]
    for scope in range(2):
        passed_on[scope] = max(passed_on[scope], own[scope])
    order.due[slot, warp] |= SYNCED


@cached_njit
def publish(order, masks, blocks, slots, warps, scope, waits):
    """Warps release their accesses, and all that are ordered before them. `scope`: CTA or GPU. `waits`: they then wait
    for publications of others, and acquire them when they continue.
    """
    order.counts[SEQUENCE] += 1
    now = order.counts[SEQUENCE]
    for k in range(len(masks)):
        if masks[k] == 0:
            continue
        block, slot, warp = blocks[k], slots[k], warps[k]
        catch_up(order, slot, warp)
        published = order.published[block * order.diverged.shape[1] + warp, min(order.tick[slot, warp], TICKS - 1)]
        for each in range(scope + 1):
            if published[each] == 0:
                published[each] = now
        epoch = _latest(order, slot, warp, masks[k])
        forget_present(order, slot, warp)
        if scope == GPU:
            order.last_published[block] = now
            for before in range(min(epoch, EPOCHS)):
                if order.epoch_published[block, before] == 0:
                    order.epoch_published[block, before] = now
        order.tick[slot, warp] += 1
        if waits:
            order.due[slot, warp] |= WAITED


@cached_njit
def acquire(order, masks, slots, warps, scope, only_pending):
    """Warps acquire the publications; with `only_pending` only those that have read a possible flag."""
    for k in range(len(masks)):
        slot, warp = slots[k], warps[k]
        if masks[k] == 0 or (only_pending and not order.pending[slot, warp]):
            continue
        for each in range(scope + 1):
            order.acquired[slot, warp, each] = order.counts[SEQUENCE]
        order.pending[slot, warp] = 0


@inline_njit
def _latest(order, slot, warp, mask):
    """The latest epoch of some lanes."""
    epoch = np.int32(0)
    for lane in range(32):
        if mask >> np.uint32(lane) & np.uint32(1):
            epoch = max(epoch, of_lane(order, NOW, slot, warp, lane))
    return epoch


@cached_njit
def sync_warps(order, masks, slots, warps, members, live, absent):
    """Lanes of `masks` wait for those that `members`, uint32 (n, 32), names for each. live, absent: uint32 (n,)."""
    for k in range(len(masks)):
        slot, warp = slots[k], warps[k]
        order.arrived[slot, warp] |= np.int32(masks[k])
        left = masks[k]
        for lane in range(32):  # lanes may name different groups
            if not left >> np.uint32(lane) & np.uint32(1):
                continue
            together, arrived = members[k, lane] & live[k], np.uint32(order.arrived[slot, warp])
            left &= ~together
            if arrived & together == together:
                order.arrived[slot, warp] = np.int32(arrived & ~together)
                _join(order, slot, warp, together, absent[k])


@call_njit
def _join(order, slot, warp, together, absent):
    """Each of the lanes gets the knowledge of all of them."""
    row = diverged_row(order, slot, warp, together, absent)
    if row == 0:
        state = order.state[slot, warp]
        state[CLOCK_NOW] += 1
        state[KNOWN], state[PRESENT] = state[CLOCK_NOW], 0
        return
    known, clock = order.known[row], order.by_lane[row, CLOCK_NOW]
    for lane in range(32):
        most = np.int32(0)
        for member in range(32):
            if together >> np.uint32(member) & np.uint32(1):
                most = max(most, known[member, lane])
        if together >> np.uint32(lane) & np.uint32(1):
            most = clock[lane] + 1
        for member in range(32):
            if together >> np.uint32(member) & np.uint32(1):
                known[member, lane] = most
    for lane in range(32):
        if together >> np.uint32(lane) & np.uint32(1):
            clock[lane] += 1
            order.by_lane[row, PRESENT, lane] = 0
    if together | absent == ALL_LANES:
        unite(order, slot, warp, absent)


@cached_njit
def await_others(order, masks, slots, warps):
    """Warps wait for publications of others, and acquire them when they continue."""
    for k in range(len(masks)):
        if masks[k] != 0:
            order.due[slots[k], warps[k]] |= WAITED


@cached_njit
def commit(order, masks, slots, warps, family):
    """The operations of a family since the last commit form a group."""
    for k in range(len(masks)):
        slot, warp = slots[k], warps[k]
        if masks[k] == 0:
            continue
        groups, n = order.groups[slot, warp, family], order.n_groups[slot, warp, family]
        if n == GROUPS:  # the oldest is treated as one that has been waited for
            order.moments[groups[0], DONE] = groups[0]
            groups[: GROUPS - 1] = groups[1:].copy()
            n -= 1
        groups[n] = order.group[slot, warp, family]
        order.n_groups[slot, warp, family] = n + 1
        order.group[slot, warp, family] = 0


@call_njit
def _end_group(order, group, mask, now):
    """Lanes have waited for a group: it is complete if it contains operations of these lanes, otherwise still in
    progress.
    """
    if group != 0 and np.uint32(order.moments[group, CLOCK]) & mask != 0:
        order.moments[group, DONE] = now


@cached_njit
def wait_for_groups(order, masks, blocks, slots, warps, family, n_left):
    """All groups except the newest `n_left` are complete; with -1 also operations without a group."""
    for k in range(len(masks)):
        slot, warp, first = slots[k], warps[k], 0
        if masks[k] == 0:
            continue
        while not masks[k] >> np.uint32(first) & np.uint32(1):
            first += 1
        now = present(order, blocks[k], slot, warp, first)
        groups, n = order.groups[slot, warp, family], order.n_groups[slot, warp, family]
        n_done = max(n - max(n_left, 0), 0)
        for group in groups[:n_done]:
            _end_group(order, group, masks[k], now)
        left = groups[n_done:n].copy()
        groups[: len(left)] = left
        order.n_groups[slot, warp, family] = len(left)
        if n_left < 0:
            _end_group(order, order.group[slot, warp, family], masks[k], now)
            order.group[slot, warp, family] = 0


@cached_njit
def fence_proxy(order, masks, slots, warps, absent):
    """Lanes order their previous accesses by the generic proxy before their later ones by the asynchronous proxy."""
    for k in range(len(masks)):
        slot, warp = slots[k], warps[k]
        if masks[k] == 0:
            continue
        catch_up(order, slot, warp)
        epoch, row = _latest(order, slot, warp, masks[k]), diverged_row(order, slot, warp, masks[k], absent[k])
        if row == 0:
            state = order.state[slot, warp]
            state[CLOCK_NOW] += 1  # so that the next moment is a new one
            state[PRESENT], state[FENCED] = 0, order.counts[N_MOMENTS]
        for lane in range(32 if row != 0 else 0):
            if masks[k] >> np.uint32(lane) & np.uint32(1):
                order.by_lane[row, CLOCK_NOW, lane] += 1
                order.by_lane[row, PRESENT, lane], order.by_lane[row, FENCED, lane] = 0, order.counts[N_MOMENTS]
        order.fence_epoch[slot, warp], order.fence_acquired[slot, warp] = epoch, order.acquired[slot, warp, CTA]
        if order.block_fences[slot, 1] < epoch:
            order.block_fences[slot, 0], order.block_fences[slot, 1] = order.block_fences[slot, 1], epoch


@call_njit
def is_fenced(order, moment, lane, block, slot, warp, my_lane):
    """True if there is a proxy fence between an access of a lane of the same block at a moment and the current one,
    which comes later: by that lane, by the same warp, or by another thread in an epoch between the two.
    """
    moments = order.moments
    its_warp = moments[moment, WARP]
    epoch, tick = _epoch_and_tick(moments, moment)
    if moments[moment, BLOCK] != block or moment < of_lane(order, FENCED, slot, its_warp, lane):
        return True
    if epoch < order.fence_epoch[slot, warp]:
        return True
    if its_warp == warp and moment < of_lane(order, FENCED, slot, warp, my_lane):
        return True
    mine = of_lane(order, NOW, slot, warp, my_lane)
    for fence in order.block_fences[slot]:
        if epoch < fence < mine:
            return True
    index = its_warp + moments[moment, BLOCK] * order.diverged.shape[1]
    if index >= len(order.published):
        return False
    return 0 < order.published[index, tick, CTA] <= order.fence_acquired[slot, warp]
