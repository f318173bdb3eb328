"""Reuse distances of lines of global memory: how many other lines were accessed since a line was accessed last.

There are two kinds of streams. One has the loads and stores of the whole GPU, all launches one after another: an upper
bound for an L2. The others have the loads of one block each: an upper bound for an L1. In both the warps of a piece of
trace take turns, an access each.

A stream of many lines is sampled in space: a line is sampled, always, if its hash is one of few, and a distance is the
number of distinct sampled lines times the rate (SHARDS: Waldspurger et al., FAST 2015). Some blocks of a launch are
sampled.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.run.trace_counts.line_accesses import Seen
from gpuprof.run.trace_counts.trace_walk import BLOCK, LINE, OF_LINE, PLACE, RATE_BITS, WRITTEN, is_chosen
from gpuprof.tables.blocks import REUSE_DISTANCES, REUSE_SCOPES
from gpuprof.trace.generators.memory.stack_distance import SPAN, StackDistances

EXACT_LINES = 1 << 16  # line accesses after which one line in RATE is looked at
MOST_BLOCKS = 8  # of a launch that have a stream of their own, or up to twice as many
FIRST_TOUCH = -1
N_BINS = 1 + 4 + 4 * 61  # a first touch, distances 0 to 3, then quarters of octaves


@cached_njit
def bin_of(distance):
    """0 for a first touch, then 1 for each distance below 4, and 4 for each octave."""
    if distance < 4:
        return distance + 1
    octave, rest = 2, distance >> 3
    while rest:
        octave += 1
        rest >>= 1
    return 5 + 4 * (octave - 2) + (distance >> (octave - 2)) - 4


def least_of_bin(number: int) -> int:
    """The least distance of a bin; FIRST_TOUCH for bin 0."""
    if number < 5:
        return number - 1
    octave, quarter = divmod(number - 5, 4)
    return (4 + quarter) << octave


@cached_njit
def tally(seen, distances, rate_bits, times, counts):
    """Adds rows of walk.SEEN to a histogram, each so many times. `distances`: theirs, in lines that are looked at."""
    for k in range(len(seen)):
        at = bin_of(distances[k] << rate_bits if distances[k] >= 0 else distances[k])
        counts[at, 0] += times
        counts[at, 1] += times * seen[k, OF_LINE]
        counts[at, 2] += times * seen[k, WRITTEN]


class Histogram:
    """Line accesses, sectors and written sectors by bin: int64 (bins, 3)."""

    def __init__(self) -> None:
        self.counts = np.zeros((N_BINS, 3), np.int64)

    def add(self, seen: np.ndarray, distances: np.ndarray, rate_bits: int, times: int) -> None:
        tally(seen, distances, rate_bits, times, self.counts)

    def rows(self, launch: int, scope: str) -> np.ndarray:
        """REUSE_DISTANCES.dtype, without empty bins."""
        at = np.flatnonzero(self.counts[:, 0])
        rows = np.zeros(len(at), REUSE_DISTANCES.dtype)
        rows["launch"], rows["scope"] = launch, REUSE_SCOPES.index(scope)
        rows["least_lines"] = [least_of_bin(number) for number in at.tolist()]
        rows["lines"], rows["sectors"], rows["store_sectors"] = self.counts[at].T
        return rows


class DeviceStream:
    """The stream of the whole GPU. It continues from launch to launch."""

    def __init__(self) -> None:
        self.distances = StackDistances()
        self.n_lines, self.rate_bits = 0, 0

    @property
    def n_exact(self) -> int:
        """How many of the next accesses are looked at for certain, as long as no more come."""
        return 0 if self.rate_bits else EXACT_LINES - self.n_lines

    def expect(self, count: int) -> None:
        """So many accesses come: all are looked at only as long as there are few."""
        self.n_lines += count
        if self.n_lines > EXACT_LINES and not self.rate_bits:
            self._look_at_fewer()

    def take(self, line: np.ndarray) -> np.ndarray:
        """The distances of lines that are looked at, in their order, in lines that are looked at."""
        return self.distances.take(line)

    def _look_at_fewer(self) -> None:
        """From now on one line in RATE: of those known, too."""
        known = self.distances.units_by_time()
        self.rate_bits, self.distances = RATE_BITS, StackDistances()
        self.distances.take(known[is_chosen(known)])


class LaunchReuse:
    """The distances of one launch."""

    def __init__(self, device: DeviceStream, n_blocks: int):
        self.device = device
        self.stride = max(1, n_blocks // MOST_BLOCKS)
        self.of_device, self.of_blocks = Histogram(), Histogram()
        self.streams: dict[int, StackDistances] = {}  # by block
        self.touched, self.rate_bits = StackDistances(SPAN), 0  # a set: of lines that are looked at

    def add(self, seen: Seen) -> None:
        """Lines that `n_exact` of the stream and `stride` have let through."""
        self._add_to_device(seen)
        starts = np.flatnonzero(np.diff(seen.of_blocks[:, BLOCK], prepend=-1))
        for own in np.split(seen.of_blocks, starts[1:]) if len(starts) else ():
            self._add_to_block(in_turns(own))

    def _add_to_device(self, seen: Seen) -> None:
        was_exact = not self.device.rate_bits
        self.device.expect(seen.n_lines)
        is_thinned = was_exact and self.device.rate_bits
        rows = in_turns(seen.of_device[is_chosen(seen.of_device[:, LINE])] if is_thinned else seen.of_device)
        line = rows[:, LINE].copy()
        self.of_device.add(rows, self.device.take(line), self.device.rate_bits, 1 << self.device.rate_bits)
        self._touch(line)

    def _touch(self, line: np.ndarray) -> None:
        """Earlier lines are thinned with the stream: lines are counted that are sampled now."""
        if self.rate_bits != self.device.rate_bits:
            known, self.touched = self.touched.units_by_time(), StackDistances(SPAN)
            self.touched.take(known[is_chosen(known)])
            self.rate_bits = self.device.rate_bits
        self.touched.take(line)

    def _add_to_block(self, rows: np.ndarray) -> None:
        block = int(rows[0, BLOCK])
        if block not in self.streams:
            self.streams[block] = StackDistances(SPAN)
        distances = self.streams[block].take(rows[:, LINE].copy())
        self.of_blocks.add(rows, distances, 0, self.stride)

    def rows(self, launch: int) -> np.ndarray:
        """REUSE_DISTANCES.dtype."""
        footprint = Histogram()
        footprint.counts[0] = self.touched.n_units << self.rate_bits, 0, 0
        return np.concatenate(
            [
                self.of_device.rows(launch, "device"),
                self.of_blocks.rows(launch, "block"),
                footprint.rows(launch, "launch"),
            ]
        )


def in_turns(seen: np.ndarray) -> np.ndarray:
    """The rows in the order in which warps take turns: those of the first access of each warp, then of the second of
    each.
    """
    place = seen[:, PLACE]
    # NumPy sorts 16 bits by counting, ten times as fast.
    is_small = int(place.max(initial=0)) < 1 << 16
    return seen[np.argsort(place.astype(np.uint16) if is_small else place, kind="stable")]
