"""Counts samples by (launch, pc, reason), a chunk at a time, in bounded memory."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from gpuprof.correlate.sample_weights import Spread, least_effect, weights
from gpuprof.errors import FileFormatError
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.encoding import LaunchRows
from gpuprof.records.reader import Launch
from gpuprof.records.schema import Chunk
from gpuprof.tables.launch import LEDGER, STALL_LENGTHS
from gpuprof.tables.samples import SCHEDULER_ISSUED, STALL_MASK

MERGE_AT_ROWS = 1 << 18  # distinct keys held before equal ones are added up

# One sample's key: pc in the upper bits, reason in the lower. Sorting keys sorts rows by (pc, reason), as the table
# wants them.
REASON_BITS = 5
assert N_REASONS <= 1 << REASON_BITS


def first_reasons(words: np.ndarray) -> np.ndarray:
    """The highest-priority reason of each stall word, uint32 (n,) -> uint32 (n,): the number of its lowest set bit.

    Raises FileFormatError for a word without a reason this version knows.
    """
    vector = words & np.uint32(STALL_MASK)
    reason = np.bitwise_count((vector & -vector) - np.uint32(1)).astype(np.uint32)  # an empty vector gives 32
    if (reason >= N_REASONS).any():
        word = int(words[reason >= N_REASONS][0])
        raise FileFormatError(
            f"a sample's stall word is {word:#010x}, whose lowest bit is not one of the {N_REASONS} stall reasons"
        )
    return reason


class LaunchCounts:
    """The counts of one launch: `keys` distinct and ascending after `merge`, `counts` int64 (n, 3): samples, of these
    not issued, weight.
    """

    def __init__(self, registers: dict):
        self.registers = registers
        self.has_flags = self.has_weights = True
        self._spread = Spread()
        self._keys = [np.empty(0, np.uint64)]
        self._counts = [np.empty((0, 3), np.int64)]
        self._n_held = 0
        self._merge_at_rows = MERGE_AT_ROWS

    def add(self, rows: np.ndarray) -> None:
        keys = rows["pc"].astype(np.uint64) << np.uint64(REASON_BITS) | first_reasons(rows["stall_sm"])
        wide = "flags" in rows.dtype.names
        self.has_flags &= wide
        not_issued = (rows["flags"] & SCHEDULER_ISSUED == 0) if wide else np.zeros(len(rows), bool)
        keys, counts = add_up(keys, np.stack([np.ones(len(rows), np.int64), not_issued, self._weigh(rows)], axis=1))
        self._keys.append(keys)
        self._counts.append(counts)
        self._n_held += len(keys)
        if self._n_held > self._merge_at_rows:
            self.merge()

    def _weigh(self, rows: np.ndarray) -> np.ndarray:
        weight = weights(rows, self.registers) if self.has_weights else None
        if weight is None:
            self.has_weights = False
            return np.zeros(len(rows), np.int64)
        self._spread.add(rows["pc"], rows["cycle"], weight)
        return weight

    def merge(self) -> tuple[np.ndarray, np.ndarray]:
        keys, counts = add_up(np.concatenate(self._keys), np.concatenate(self._counts))
        self._keys, self._counts, self._n_held = [keys], [counts], len(keys)
        self._merge_at_rows = MERGE_AT_ROWS + 2 * len(keys)
        return keys, counts

    def effective(self, launch: Launch | None = None) -> float:
        """See `Spread.effective`. `launch`: with how long its stalls are."""
        keys, counts = self.merge()
        pcs, sums = add_up(keys >> np.uint64(REASON_BITS), counts[:, 2:])
        least = Fraction(1)
        if launch:
            # What the launch itself says: --period auto has found its period when the launch ends, not when it begins.
            own = launch.begin.get("sampling")
            period_cycles = (self.registers | (own if isinstance(own, dict) else {})).get("period_cycles")
            least = least_effect(period_cycles, launch.rows[STALL_LENGTHS], launch.rows[LEDGER])
        return self._spread.effective(dict(zip(pcs.tolist(), sums[:, 0].tolist(), strict=True)), least)


class SampleCounts:
    """Takes sample chunks; gives the rows of the tables `samples` and `sample_sizes`."""

    def __init__(self):
        self._registers: dict[int, dict] = {}
        self._launches: dict[int, LaunchCounts] = {}

    def begin(self, launch: int, registers: dict) -> None:
        """A launch whose samples are to come, and the sampler's registers."""
        self._registers[launch] = registers

    def add(self, chunk: Chunk, payload: LaunchRows) -> None:
        """A chunk of compact or wide samples; raises FileFormatError for a stall word without a known reason."""
        self._launches.setdefault(payload.launch, LaunchCounts(self._registers.get(payload.launch, {}))).add(
            payload.rows
        )

    def rows(self) -> Iterator[tuple[int, int, int, int, int | None, int | None]]:
        """(launch, pc, reason, samples, samples not issued, weight), ascending; the last two are None if the records
        do not have them.
        """
        for launch, counted in sorted(self._launches.items()):
            keys, counts = counted.merge()
            pc, reason = keys >> np.uint64(REASON_BITS), keys & np.uint64((1 << REASON_BITS) - 1)
            for *values, not_issued, weight in zip(pc.tolist(), reason.tolist(), *counts.T.tolist(), strict=True):
                yield (
                    launch,
                    *values,
                    not_issued if counted.has_flags else None,
                    weight if counted.has_weights else None,
                )

    def sizes(self, launches: Mapping[int, Launch]) -> Iterator[tuple[int, float]]:
        """(launch, effective number of samples) of the launches whose samples have weights."""
        for launch, counted in sorted(self._launches.items()):
            if counted.has_weights and len(counted.merge()[0]):  # a chunk may have no rows
                yield launch, counted.effective(launches[launch])


def add_up(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys, ascending, and the sums of their rows of counts, int64 (n, columns)."""
    distinct, where = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(distinct), counts.shape[1]), np.int64)
    for column in range(counts.shape[1]):
        sums[:, column] = np.bincount(where, counts[:, column], len(distinct)).astype(np.int64)
    return distinct, sums
