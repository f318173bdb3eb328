"""The padding of an array's rows that avoids bank conflicts: tried out on the positions of lanes that were seen.

BankPatterns of the array ─ candidate rows and paddings ─> wavefronts of each ─> Padding
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from gpuprof.base.wording import plural
from gpuprof.correlate.advice.kernel_costs import Instruction
from gpuprof.correlate.counts import BankPattern

BANKS, WORD_NBYTES = 32, 4
PASS_NBYTES = BANKS * WORD_NBYTES  # of a pass through the banks
MOST_PAD_WORDS = 32
MOST_ELEMENT_NBYTES = 16  # of a vector
LEAST_ROW_NBYTES = 32  # ours: what is closer together is no row of an array
STEPS = 50  # ours: what differs by less of the excess is as good
ROW_STEPS = 10  # ours: by so much padded rows may be worse than gaps
WORTH = 0.5  # of the excess: a padding that leaves more is not worth its memory


class Padding(NamedTuple):
    """A padding of rows, and what it does to all accesses of the array."""

    row_nbytes: int  # from a row's first byte to the next one's
    pad_nbytes: int
    is_row: bool  # lanes are so far apart; otherwise bytes are left free in between
    is_known: bool  # lanes that lie together are so far from the next ones: the array's own row
    wavefronts: int  # of the array's accesses, as they are
    padded: int  # with the padding
    ideal: int

    @property
    def left(self) -> int:
        """The share of the excess that stays, in parts of STEPS."""
        return (self.padded - self.ideal) * STEPS // max(self.wavefronts - self.ideal, 1)


Placed = tuple[tuple[int, int], ...]  # (lane, bytes above the lowest lane's)


def places(pattern: BankPattern) -> Placed:
    """The lanes that take part, ascending. None for a pattern in no order."""
    taking_part = [lane for lane in range(32) if pattern.mask >> lane & 1]
    placed = []
    for index, lane in enumerate(taking_part):
        place, run = 0, index
        for stride, n in zip(pattern.strides, pattern.lanes, strict=True):
            place += run % n * stride
            run //= n
        placed.append((lane, place))
    lowest = min((place for _, place in placed), default=0)
    return tuple((lane, place - lowest) for lane, place in placed)


@cache
def wavefronts(placed: Placed, nbytes: int, is_load: bool) -> tuple[int, int]:
    """(passes through the banks, the fewest possible) of a warp's access of `nbytes` a lane.

    Lanes that want one word share a pass; other words of one bank take turns. Accesses wider than a word go by as many
    lanes as a pass has bytes for; a load by twice as many where its lanes agree in pairs.
    """
    group = 32 if nbytes <= WORD_NBYTES else PASS_NBYTES // nbytes
    group *= 2 if is_load and nbytes > WORD_NBYTES and agree_in_pairs(dict(placed)) else 1
    words: dict[int, set[int]] = {}
    for lane, place in placed:
        first = place // WORD_NBYTES
        words.setdefault(lane // group, set()).update(range(first, first + max(1, nbytes // WORD_NBYTES)))
    return sum(most_in_a_bank(in_bank) for in_bank in words.values()), len(words)


def agree_in_pairs(place: dict[int, int]) -> bool:
    """All lanes whose numbers differ by 1, or all whose numbers differ by 2, are at one position."""
    return any(all(place.get(lane ^ apart, place[lane]) == place[lane] for lane in place) for apart in (1, 2))


def most_in_a_bank(words: set[int]) -> int:
    counts = [0] * BANKS
    for word in words:
        counts[word % BANKS] += 1
    return max(counts)


def moved(placed: Placed, row_nbytes: int, pad_nbytes: int) -> Placed:
    return tuple((lane, place + place // row_nbytes * pad_nbytes) for lane, place in placed)


class Accesses(NamedTuple):
    """The patterns of an array's instructions: (places, bytes a lane, whether it loads, executions by a warp)."""

    rows: tuple[tuple[Placed, int, bool, int], ...]

    def wavefronts(self, row_nbytes: int = 1, pad_nbytes: int = 0) -> int:
        return sum(
            warps * wavefronts(moved(placed, row_nbytes, pad_nbytes) if pad_nbytes else placed, nbytes, is_load)[0]
            for placed, nbytes, is_load, warps in self.rows
        )

    @property
    def ideal(self) -> int:
        return sum(warps * wavefronts(placed, nbytes, is_load)[1] for placed, nbytes, is_load, warps in self.rows)

    @property
    def access_nbytes(self) -> int:
        """The largest of a lane: what pads are multiples of, so that accesses stay aligned."""
        return max(nbytes for _, nbytes, _, _ in self.rows)


def accesses_of(instructions: Sequence[Instruction]) -> Accesses:
    return Accesses(
        tuple(
            (places(pattern), instruction.access_nbytes, instruction.operation == "load", pattern.warps)
            for instruction in instructions
            for pattern in instruction.patterns
            if pattern.mask
        )
    )


def same_array(instruction: Instruction, others: Sequence[Instruction]) -> list[Instruction]:
    """The instructions, this one too, that access bytes which this one accesses, or another of them does: the copies
    of an unrolled loop take an array in parts.
    """
    connected, reached = [], [instruction]
    while len(connected) < len(reached):
        connected = reached
        taken = [pattern for each in connected for pattern in each.patterns if pattern.mask]
        first, end = min(pattern.first for pattern in taken), max(pattern.end for pattern in taken)
        reached = [
            other
            for other in others
            if other.access_nbytes
            and any(pattern.mask and pattern.first < end and first < pattern.end for pattern in other.patterns)
        ]
    return connected


def is_regular(instruction: Instruction) -> bool:
    """Most of its executions are of patterns with strides."""
    regular = sum(pattern.warps for pattern in instruction.patterns if pattern.mask)
    return 2 * regular > sum(pattern.warps for pattern in instruction.patterns)


def best_padding(instruction: Instruction, instructions: Sequence[Instruction]) -> Padding | None:
    """The smallest padding that saves the most wavefronts of the array that the instruction accesses, of its own rows
    where these are known; None where none is worth it.
    """
    array_of = same_array(instruction, instructions)
    array = accesses_of(array_of)
    before, ideal = array.wavefronts(), array.ideal
    unit_nbytes = element_nbytes(array_of, array.access_nbytes)
    known = known_rows(array_of)
    candidates = [(row, unit_nbytes, True) for row in sorted({*row_candidates(instruction), *known})]
    tried = [
        Padding(row, pad, is_row, row in known, before, array.wavefronts(row, pad), ideal)
        for row, unit, is_row in (*candidates, (PASS_NBYTES, array.access_nbytes, False))
        if row % unit == 0
        for pad in range(unit, MOST_PAD_WORDS * WORD_NBYTES + 1, unit)
    ]
    worth = [each for each in tried if each.left <= WORTH * STEPS]
    return min([each for each in worth if each.is_known] or worth, key=_rank, default=None)


def _rank(each: Padding) -> tuple:
    # A row that is longer is easily written down. Gaps in between need an index of their own.
    handicap = each.left if not each.is_row else max(each.left - ROW_STEPS, 0)
    return handicap, not each.is_row, each.left, each.pad_nbytes, each.padded, each.row_nbytes


def element_nbytes(instructions: Sequence[Instruction], access_nbytes: int) -> int:
    """Bytes of an element of the array, judged by its accesses: neighbouring lanes mostly take neighbouring
    ones, also when they take a part of each.
    """
    strides = {abs(p.strides[0]) for instruction in instructions for p in instruction.patterns if p.mask}
    near = min((s for s in strides if access_nbytes < s <= MOST_ELEMENT_NBYTES), default=access_nbytes)
    return access_nbytes if access_nbytes in strides else near


def row_candidates(instruction: Instruction) -> Iterator[int]:
    """Strides in bytes between lanes that may be those of rows."""
    strides = {abs(s) for pattern in instruction.patterns if pattern.mask for s in pattern.strides}
    return (stride for stride in sorted(strides) if stride >= LEAST_ROW_NBYTES)


def known_rows(instructions: Sequence[Instruction]) -> set[int]:
    """The strides in bytes of lanes whose neighbours lie together: one access takes some elements of several rows."""
    rows = set()
    for pattern in (pattern for each in instructions for pattern in each.patterns if pattern.mask):
        extent = 0  # of the lanes of the levels so far
        for stride, n in zip(map(abs, pattern.strides), pattern.lanes, strict=True):
            if 0 < extent < stride >= LEAST_ROW_NBYTES and n > 1:
                rows.add(stride)
            extent += stride * (n - 1)
    return rows


def words(nbytes: int, access_nbytes: int) -> str:
    """ "33 words"; "264 bytes" for an array of another unit."""
    if access_nbytes == WORD_NBYTES and nbytes % WORD_NBYTES == 0:
        return plural(nbytes // WORD_NBYTES, "word", "words")
    return plural(nbytes, "byte", "bytes")
