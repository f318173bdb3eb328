"""Reuse distances of lines of global memory: how many other lines were accessed since a line was accessed last.

Two kinds of streams are looked at. One is of the whole GPU, all launches one after another, loads and stores: what an
L2 could keep. The others are of one block each, its loads alone: what an L1 could keep. In both the warps of a piece of
trace take turns, an access each.

A stream of many lines is sampled in space: a line is looked at, always, if its hash is one of few, and a distance is so
many times the distinct lines looked at (SHARDS: Waldspurger et al., FAST 2015). Of a launch's blocks some are looked
at.
"""

import numpy as np

from gpuprof.records.schema import REUSE_DISTANCES_DTYPE, REUSE_SCOPES
from gpuprof.run.counted.accesses import Accesses, Lines, Recorded
from gpuprof.trace.generators.memory.stack_distance import NEVER, SPAN, StackDistances

EXACT_LINES = 1 << 16  # line accesses after which one line in RATE is looked at
RATE_BITS = 4
RATE = 1 << RATE_BITS
MOST_BLOCKS = 8  # of a launch that have a stream of their own, or up to twice as many
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio: Fibonacci hashing (Knuth, volume 3, 6.4)
FIRST_TOUCH = -1
N_BINS = 1 + 4 + 4 * 61  # a first touch, distances 0 to 3, then quarters of octaves


def bins_of(distances: np.ndarray) -> np.ndarray:
    """int64: 0 for a first touch, then 1 for each distance below 4, and 4 for each octave."""
    positive = np.maximum(distances, 4)
    octave = np.frexp(positive.astype(np.float64))[1] - 1
    quarter = (positive >> (octave - 2)) - 4
    return np.where(distances < 4, distances + 1, 5 + 4 * (octave - 2) + quarter)


def least_of_bin(number: int) -> int:
    """The least distance of a bin; FIRST_TOUCH for bin 0."""
    if number < 5:
        return number - 1
    octave, quarter = divmod(number - 5, 4)
    return (4 + quarter) << octave


class Histogram:
    """Line accesses, sectors and written sectors by bin: int64 (bins, 3)."""

    def __init__(self) -> None:
        self.counts = np.zeros((N_BINS, 3), np.int64)

    def add(self, distances: np.ndarray, sectors: np.ndarray, written: np.ndarray, times: int) -> None:
        at = bins_of(distances)
        for column, weights in enumerate((None, sectors, written)):
            self.counts[:, column] += np.bincount(at, weights, N_BINS).astype(np.int64) * times

    def rows(self, launch: int, scope: str) -> np.ndarray:
        """REUSE_DISTANCES_DTYPE, without bins that nothing fell into."""
        at = np.flatnonzero(self.counts[:, 0])
        found = np.zeros(len(at), REUSE_DISTANCES_DTYPE)
        found["launch"], found["scope"] = launch, REUSE_SCOPES.index(scope)
        found["least_lines"] = [least_of_bin(number) for number in at.tolist()]
        found["lines"], found["sectors"], found["store_sectors"] = self.counts[at].T
        return found


class DeviceStream:
    """The stream of the whole GPU. It goes on from launch to launch."""

    def __init__(self) -> None:
        self.distances = StackDistances()
        self.n_lines, self.rate_bits = 0, 0

    def chosen(self, line: np.ndarray) -> np.ndarray:
        """bool (n,): which lines are looked at."""
        if not self.rate_bits:
            return np.ones(len(line), np.bool_)
        return line.astype(np.uint64) * GOLDEN >> np.uint64(64 - self.rate_bits) == 0

    def expect(self, count: int) -> None:
        """So many accesses come: all are looked at only as long as there are few."""
        self.n_lines += count
        if self.n_lines > EXACT_LINES and not self.rate_bits:
            self._look_at_fewer()

    def take(self, line: np.ndarray) -> np.ndarray:
        """The distances of lines that are looked at, in their order."""
        found = self.distances.take(line)
        return np.where(found == NEVER, NEVER, found << self.rate_bits)

    def _look_at_fewer(self) -> None:
        """From now on one line in RATE: of those known, too."""
        known = self.distances.units_by_time()
        self.rate_bits, self.distances = RATE_BITS, StackDistances()
        self.distances.take(known[self.chosen(known)])


class LaunchReuse:
    """The distances of one launch."""

    def __init__(self, device: DeviceStream, code: Recorded, n_blocks: int):
        self.device, self.code = device, code
        self.stride = max(1, n_blocks // MOST_BLOCKS)
        self.of_device, self.of_blocks = Histogram(), Histogram()
        self.streams: dict[int, StackDistances] = {}  # by block
        self.touched = np.empty(0, np.int64)  # distinct lines that are looked at
        self.rate = 1

    def add(self, accesses: Accesses, lines: Lines, first_block: int, warps_per_block: int) -> None:
        written = self.code.is_store[accesses.instruction[lines.access]]
        self._add_to_device(accesses, lines, written)
        self._add_to_blocks(accesses, lines, written, first_block, warps_per_block)

    def _add_to_device(self, accesses: Accesses, lines: Lines, written: np.ndarray) -> None:
        self.device.expect(len(lines.line))
        chosen = np.flatnonzero(self.device.chosen(lines.line))
        chosen = chosen[in_turns(accesses, lines.access[chosen])]
        line, sectors = lines.line[chosen], lines.sectors[chosen]
        self.of_device.add(self.device.take(line), sectors, sectors * written[chosen], 1 << self.device.rate_bits)
        self._touch(line)

    def _touch(self, line: np.ndarray) -> None:
        """Those of before are thinned with the stream: the count is of lines that are looked at now."""
        rate = 1 << self.device.rate_bits
        if rate != self.rate:
            self.touched = self.touched[self.device.chosen(self.touched)]
            self.rate = rate
        self.touched = np.union1d(self.touched, line)

    def _add_to_blocks(
        self, accesses: Accesses, lines: Lines, written: np.ndarray, first_block: int, warps_per_block: int
    ) -> None:
        # Which warps are looked at is known of few warps, not of each line.
        of_warp = first_block + np.arange(accesses.warp[-1] + 1 if len(accesses.warp) else 0) // warps_per_block
        chosen = np.flatnonzero((of_warp % self.stride == 0)[accesses.warp[lines.access]] & ~written)
        if not len(chosen):
            return
        block = of_warp[accesses.warp[lines.access[chosen]]]
        # Of one block after the other, and of each in turns.
        order = np.lexsort((lines.access[chosen], accesses.place[lines.access[chosen]], block))
        chosen, block = chosen[order], block[order]
        numbers, starts = np.unique(block, return_index=True)
        found = [
            self._stream(number).take(lines.line[own])
            for number, own in zip(numbers.tolist(), np.split(chosen, starts)[1:], strict=True)
        ]
        sectors = lines.sectors[chosen]
        self.of_blocks.add(np.concatenate(found), sectors, np.zeros_like(sectors), self.stride)

    def _stream(self, block: int) -> StackDistances:
        if block not in self.streams:
            self.streams[block] = StackDistances(SPAN)
        return self.streams[block]

    def rows(self, launch: int) -> np.ndarray:
        """REUSE_DISTANCES_DTYPE."""
        footprint = Histogram()
        footprint.counts[0] = len(self.touched) * self.rate, 0, 0
        return np.concatenate(
            [
                self.of_device.rows(launch, "device"),
                self.of_blocks.rows(launch, "block"),
                footprint.rows(launch, "launch"),
            ]
        )


def in_turns(accesses: Accesses, access: np.ndarray) -> np.ndarray:
    """The order of accesses in which warps take turns: the first of each warp, then the second of each."""
    return np.lexsort((access, accesses.place[access]))
