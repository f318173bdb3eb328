"""Virtual to physical registers: copies are coalesced, then a linear scan over live ranges with holes.

R and D registers share one file of 32-bit words, as they do in hardware: Rn is word n, Dn the aligned pair of words 2n
and 2n + 1.
Word 1 is the stack pointer; the words after those of a thread are its warp's uniform registers.
A unit is what gets a place: one virtual register, or the members of a tuple that need consecutive ones, or several that
coalescing made one. Units are placed in order of their start where nothing overlaps.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuprof.assemble.abi.calling_convention import align_up
from gpuprof.assemble.ir.body import COPIES, HAS_GROUPS, WORDS, Body, Inst
from gpuprof.assemble.ir.liveness import Liveness, Segment, live_segments, overlap, union
from gpuprof.isa.opcodes import by_number
from gpuprof.isa.program import PROGRAM_COUNTER_WORDS

RESERVED_WORDS = PROGRAM_COUNTER_WORDS  # what a thread has besides the words it can name
STACK_POINTER = 1
LIMITS = {"R": 255 - RESERVED_WORDS, "P": 127, "U": 63}  # words; predicates; words of a warp's uniform registers
_LATE_PIPES = ("lsu", "tex", "xu")
_MOMENT = 7  # instructions; fitted to ptxas 13.0: tests/assemble/test_registers.py
_WIDEST_ALIGNMENT = 4  # words: the widest access reads four, and so does the widest operand of a tensor instruction


# Registers that an instruction needs for itself while it runs, besides its operands: those of the sequence that the
# real assembler writes for it. Measured with ptxas 13.0 for sm_80, against an addition of the same type. For a sequence
# that is inline: how many fewer values a kernel under -maxrregcount=40 keeps alive across it before it spills. For a
# subroutine, whose registers are given: how many more registers a kernel takes that does nothing else.
_INLINE = {
    "IDIV.U32": 3, "IREM.U32": 3, "IDIV.S32": 4, "IREM.S32": 4, "IMUL.64": 2, "IMULHI.U64": 2, "FDIV": 6, "FRCP": 3,
    "FSQRT": 1,
}  # fmt: skip
_SUBROUTINE = {"IDIV.U64": 8, "IREM.U64": 8, "IDIV.S64": 12, "IREM.S64": 10, "DDIV": 13, "DRCP": 6, "DSQRT": 10}

SCRATCH_WORDS = by_number(_INLINE | _SUBROUTINE)


class Allocation(NamedTuple):
    """Physical number of each virtual register; how many of each file are used (one more than the highest), `words`
    counts both.
    """

    number: dict[int, int]
    used: dict[str, int]
    words: int


# Units in the order of their start leave no gaps where all are of one width. Elsewhere the wide ones come first, of all
# or of those that live about as long: they find no place between narrow ones.
_ORDERS = (
    lambda unit: (),
    lambda unit: (-unit.align,),
    lambda unit: (-(unit.span.bit_length() // 2), -unit.align),
)


class OutOfRegisters(Exception):
    """A unit found no place below the limits; `file` is a key of LIMITS."""

    def __init__(self, file: str):
        super().__init__(file)
        self.file = file


# Positions as bit sets, in pieces of _PIECE positions: (number of the piece, bits). So what a test takes does not grow
# with the function.
Bits = tuple[tuple[int, int], ...]
_PIECE = 4096


def _bits_of(segments: list[Segment]) -> Bits:
    pieces: dict[int, int] = {}
    for start, stop in segments:
        while start < stop:
            piece, first = divmod(start, _PIECE)
            last = min(stop - start + first, _PIECE)
            pieces[piece] = pieces.get(piece, 0) | (1 << last) - (1 << first)
            start += last - first
    return tuple(pieces.items())


@dataclass(slots=True, eq=False)
class Unit:
    file: str  # a key of LIMITS
    lanes: list[list[Segment]]  # live segments of each of its consecutive words
    members: list[int]  # virtual registers; `_Units.lane` says where in the unit
    align: int
    fixed: int | None = None
    base: int | None = None  # its place, once it has one
    # Of a unit that is placed, the positions of each lane, and of the first segment of lane 0; from `_note_positions`.
    bits: list[Bits] = field(default_factory=list)
    first_bits: Bits = ()

    @property
    def start(self) -> int:
        lanes = self.lanes
        return lanes[0][0][0] if len(lanes) == 1 else min([lane[0][0] for lane in lanes if lane])

    @property
    def span(self) -> int:
        lanes = self.lanes
        last = lanes[0][-1][1] if len(lanes) == 1 else max([lane[-1][1] for lane in lanes if lane])
        return last - self.start


def allocate(body: Body, limit: int = LIMITS["R"], liveness: Liveness | None = None) -> Allocation:
    """Places values in as few words as it can. Where the body needs few, it then spends more of them, up to the free
    ones or `limit`: see `_Spread`. What the uniform registers cannot hold is in those of the threads. `liveness`: of
    the body, if it is known.

    Raises OutOfRegisters when a file is not enough.
    """
    try:
        return _allocate(body, limit, liveness)
    except OutOfRegisters as error:
        if error.file != "U":
            raise
    body.uniform.clear()
    return _allocate(body, limit, liveness)


def _allocate(body: Body, limit: int, liveness: Liveness | None) -> Allocation:
    segments = live_segments(body, liveness)
    units = _Units(body, segments)
    units.coalesce()
    order = units.in_order()
    for unit in order:
        unit.bits = [_bits_of(lane) for lane in unit.lanes]
        unit.first_bits = unit.bits[0] if len(unit.lanes[0]) < 2 else _bits_of(unit.lanes[0][:1])
    reserved = _Reserved(body, any(unit.align > 2 for unit in order))
    tight, order = _fewest(body, units, order, reserved)
    free = body.free_registers - RESERVED_WORDS
    if tight.words >= min(free, limit):
        return tight
    best = tight
    n_free = min(free, limit)
    for n_together in (3, 2):  # pairs of words only where they take no more than threes do
        spread = _place(body, units, order, reserved, spread=_Spread(body, units, n_free, n_together))
        if spread is None or spread.words > n_free:
            break
        best, n_free = spread, spread.words
    return best


def _fewest(body: Body, units: "_Units", order: list[Unit], reserved: "_Reserved") -> tuple[Allocation, list[Unit]]:
    """The first allocation of `_ORDERS` that takes the fewest words, with the order of its units."""
    best: tuple[Allocation, list[Unit]] | None = None
    tried: list[list[Unit]] = []
    for key in _ORDERS:
        ordered = sorted(order, key=lambda u, k=key: (u.fixed is None, k(u)))
        if ordered in tried:
            continue
        tried.append(ordered)
        try:
            allocation = _place(body, units, ordered, reserved, below=best[0].words if best else None)
        except OutOfRegisters as error:
            failed = error
            continue
        if allocation is not None:
            best = allocation, ordered
        if best is not None and best[0].words <= _least_words(order):
            break
    if best is None:
        raise failed
    return best


def _least_words(order: list[Unit]) -> int:
    """No order takes fewer words: so many are live at once, and the stack pointer with them."""
    lanes = [lane for unit in order if unit.file == "R" for lane in unit.lanes]
    starts, stops = zip(*(segment for lane in lanes for segment in lane), strict=True) if any(lanes) else ((0,), (0,))
    changes = np.bincount(starts, minlength=max(stops) + 1) - np.bincount(stops, minlength=max(stops) + 1)
    return max(int(np.cumsum(changes).max()), STACK_POINTER) + 1


def _place(
    body: Body,
    units: "_Units",
    order: list[Unit],
    reserved: "_Reserved",
    *,
    spread: "_Spread | None" = None,
    below: int | None = None,
) -> Allocation | None:
    """Places the units in this order. None as soon as that takes `below` words or more."""
    files = reserved.files()
    number: dict[int, int] = {}
    used = {"R": 0, "D": 0, "P": 0}
    words = STACK_POINTER + 1
    places: list[int] = []  # of units, in order
    for unit in order:
        base = unit.fixed
        file = files[unit.file]
        if base is None and spread and unit.file == "R":
            base = spread.find(unit, file)
        if base is None:
            base = file.find(unit)
        if base is None:
            raise OutOfRegisters(unit.file)
        file.take(unit, base)
        if spread and unit.file == "R":
            spread.take(unit, base)
        if unit.file == "R" and base + len(unit.lanes) > words:
            words = base + len(unit.lanes)
            if below is not None and words >= below:
                return None
        places.append(base)
    first_uniform = align_up(words, 2)
    if files["U"].top and first_uniform + files["U"].top > LIMITS["R"]:
        raise OutOfRegisters("U")
    for unit, base in zip(order, places, strict=True):
        if unit.file == "U":
            base += first_uniform
        for register in unit.members:
            file = body.files[register]
            place = base + units.lane[register] >> (file == "D")
            number[register] = place
            if place >= used[file]:
                used[file] = place + 1
    return Allocation(number, used, words)


class _Spread:
    """The place of a value while registers cost nothing.

    The register file has two banks, the even words and the odd ones, and an instruction reads one word of each at a
    time (Huerta et al., MICRO 2025). So words that are read together should be in both banks. An address in a pair is
    read from the even bank first. An instruction of unknown latency reads its sources late, and an instruction that
    writes them next would have to wait for it.

    n_together: of an instruction that reads so many words, or more, they should be in both banks.
    """

    def __init__(self, body: Body, units: "_Units", limit: int, n_together: int):
        self.limit = limit
        self.partners: dict[int, list[Unit]] = {}
        self.wants_odd: dict[int, int] = {}
        self.late_reads: dict[int, list[int]] = {}  # positions, by unit
        # Positions soon after such a read of a word: bits of each word, by piece.
        self.just_read: dict[int, list[int]] = {}
        files = body.files
        for index, inst in enumerate(body.instructions()):
            if inst.op.pipe in _LATE_PIPES:
                for register in inst.read:
                    self.late_reads.setdefault(id(units.unit.get(register)), []).append(2 * index)
            words = [
                v for v in (inst.a, inst.b, inst.c) if v.__class__ is int and files[v] == "R" and v not in body.uniform
            ]
            if not words:
                continue
            if inst.a.__class__ is int and files[inst.a] == "D" and inst.op.a == "A":
                for register in words:
                    unit = id(units.unit.get(register))
                    self.wants_odd[unit] = self.wants_odd.get(unit, 0) + 1
            elif len(set(words)) >= n_together:
                together = [units.unit[r] for r in dict.fromkeys(words) if r in units.unit]
                for unit in together:
                    self.partners.setdefault(id(unit), []).extend(other for other in together if other is not unit)

    def find(self, unit: Unit, file: "_File") -> int | None:
        """The lowest free place that was not read a moment ago, in the bank that has fewer of the values read together
        with this one. None where there is none.
        """
        if not unit.members:
            return None
        odd = 0
        if len(unit.lanes) == 1:
            odd = self.wants_odd.get(id(unit), 0)
            for other in self.partners.get(id(unit), ()):
                if other.base is not None and len(other.lanes) == 1:
                    odd += -1 if other.base & 1 else 1
        first, step = (odd > 0, 2) if odd else (0, unit.align)
        width = len(unit.lanes)
        piece, bit = divmod(unit.start, _PIECE)
        just_read, bit = self.just_read.get(piece), 1 << bit
        for base in range(first, self.limit - width + 1, step):
            if file.fits(unit, base) and not (just_read and any(just_read[base + i] & bit for i in range(width))):
                return base
        if odd:
            return next((base for base in range(first, self.limit, 2) if file.free(base, unit.bits[0])), None)
        return None

    def take(self, unit: Unit, base: int):
        unit.base = base
        if positions := self.late_reads.get(id(unit)):
            for piece, bits in _bits_of([(position + 1, position + 2 * _MOMENT) for position in positions]):
                just_read = self.just_read.setdefault(piece, [0] * LIMITS["R"])
                for word in range(base, base + len(unit.lanes)):
                    just_read[word] |= bits


class _Units:
    """Units by member. The lanes of two units become one's when a copy joins them; the smaller one moves."""

    def __init__(self, body: Body, segments: dict[int, list[Segment]]):
        self.body = body
        self.unit: dict[int, Unit] = {}
        self.lane: dict[int, int] = {}
        self.scratch: list[Unit] = []
        self.copies: list[tuple[int, Inst]] = []
        index = 0
        for block in body.blocks:
            for inst in block.insts:
                number = inst.op.number
                for group in (inst.dst, inst.a, inst.b, inst.c, inst.e) if HAS_GROUPS[number] else ():
                    if group.__class__ is tuple and group[0] not in self.unit:
                        self._add(group, segments)
                        if inst.op.pipe == "tex" and group is inst.dst:
                            self._loosen(self.unit[group[0]])
                if number in SCRATCH_WORDS:
                    self.scratch += [
                        Unit("R", [[(2 * index, 2 * index + 1)]], [], 1) for _ in range(SCRATCH_WORDS[number])
                    ]
                elif number in COPIES and inst.is_copy and inst.dst is not None:
                    self.copies.append((-block.loop_depth, inst))
                index += 1
        for register in segments:
            if register not in self.unit:
                self._add((register,), segments)

    def _add(self, group: tuple[int, ...], segments: dict[int, list[Segment]]):
        file = self.body.files[group[0]]
        words = WORDS[file] or 1
        lanes = [segments.get(register, []) for register in group for _ in range(words)]
        fixed = self.body.fixed.get(group[0])
        align = min(1 << (len(lanes) - 1).bit_length(), _WIDEST_ALIGNMENT)
        home = "P" if file == "P" else "U" if group[0] in self.body.uniform else "R"
        unit = Unit(home, lanes, list(group), align, None if fixed is None else fixed * words)
        for index, register in enumerate(group):
            self.unit[register] = unit
            self.lane[register] = index * words

    def _loosen(self, unit: Unit):
        """A texture unit writes the requested components, side by side; only as many need to be aligned."""
        wanted = sum(any(stop - start > 1 for start, stop in lane) for lane in unit.lanes)
        unit.align = min(1 << max(wanted - 1, 0).bit_length(), _WIDEST_ALIGNMENT)

    def in_order(self) -> list[Unit]:
        """The units that are ever live: pinned ones first, then by the place where they begin."""
        units = [*dict.fromkeys(self.unit.values()), *self.scratch]
        keys = [
            (u.fixed is None, u.start, u.members[0] if u.members else -1, i)
            for i, u in enumerate(units)
            if any(u.lanes)
        ]
        return [units[key[-1]] for key in sorted(keys)]

    def coalesce(self):
        """Merges the two sides of copies whose lives do not overlap; copies of deep loops first."""
        # A copy in a deep loop runs most often, and each merge may rule out another.
        self.copies.sort(key=lambda pair: pair[0])
        for _, inst in self.copies:
            one, other = self.unit.get(inst.a), self.unit.get(inst.dst)
            if one is not None and other is not None and one is not other:
                self._merge(one, other, self.lane[inst.a] - self.lane[inst.dst])

    def _same_value(self, one: Unit, other: Unit) -> bool:
        """True if two units that live at once hold one value wherever both live: neither is written while the other
        lives, except as its copy.
        """
        if len(one.lanes) != len(other.lanes) or not (self._is_one_value(one) and self._is_one_value(other)):
            return False
        return not (self._is_written_during(one, other) or self._is_written_during(other, one))

    def _is_one_value(self, unit: Unit) -> bool:
        return all(WORDS[self.body.files[register]] in (0, len(unit.lanes)) for register in unit.members)

    def _is_written_during(self, unit: Unit, alive: Unit) -> bool:
        for register in unit.members:
            for position, inst in self.writes.get(register, ()):
                is_copy = inst.is_copy and inst.guard is None and self.unit.get(inst.a) is alive
                if not is_copy and any(start <= position < stop for start, stop in alive.lanes[0]):
                    return True
        return False

    @cached_property
    def writes(self) -> dict[int, list[tuple[int, Inst]]]:
        """The writes of each register: (position, instruction)."""
        writes: dict[int, list[tuple[int, Inst]]] = {}
        for index, inst in enumerate(self.body.instructions()):
            for register in inst.writes():
                # Instruction i reads at 2 i and writes at 2 i + 1, so its destination may take the place of a source
                # that ends there.
                writes.setdefault(register, []).append((2 * index + 1, inst))
        return writes

    def _merge(self, one: Unit, other: Unit, shift: int):
        """Makes `other` part of `one`, its lane 0 on lane `shift`, where that is possible."""
        if one.fixed is not None or other.fixed is not None or one.file != other.file:
            return
        if (len(other.lanes), len(other.members)) > (len(one.lanes), len(one.members)):
            one, other, shift = other, one, -shift
        if shift % other.align or not 0 <= shift <= len(one.lanes) - len(other.lanes):
            return
        together = any(overlap(one.lanes[shift + lane], segments) for lane, segments in enumerate(other.lanes))
        if together and not self._same_value(one, other):
            return
        for lane, segments in enumerate(other.lanes, shift):
            one.lanes[lane] = union(one.lanes[lane], segments)
        one.members += other.members
        one.align = max(one.align, other.align)
        for register in other.members:
            self.unit[register] = one
            self.lane[register] += shift


class _File:
    """The places that are taken in one register file: positions of each place, as bits, by piece."""

    def __init__(self, limit: int, taken: list[list[int]], quads: bool):
        self.limit = limit
        self.quads = quads  # whether some unit needs an aligned quad
        self.taken = taken
        self.top = 0  # no unit was placed from here on

    def find(self, unit: Unit) -> int | None:
        """The place that leaves most aligned pairs and quads whole: next to registers in use; else the lowest that
        is free.
        """
        if len(unit.lanes) == 1 and len(unit.bits[0]) == 1:
            return self._find_word(unit)
        width = len(unit.lanes)
        lowest = adjacent = None
        for base in range(0, self.limit - width + 1, unit.align):
            # From the top on all places are free and equal.
            if lowest is not None and base >= self.top:
                break
            if self.fits(unit, base):
                # Quads are aligned to themselves, and predicates have no pairs to keep whole.
                if width > 2 or unit.file == "P":
                    return base
                near = base ^ width
                # Next to a taken neighbour no whole pair (or quad) is broken.
                if near < self.top and not self.free(near, unit.first_bits):
                    if width == 2 or not self.quads:
                        return base
                    far = base & ~3 | ~base & 2
                    if not self.free(far, unit.first_bits) or not self.free(far + 1, unit.first_bits):
                        return base
                    adjacent = base if adjacent is None else adjacent
                lowest = base if lowest is None else lowest
        return lowest if adjacent is None else adjacent

    def _find_word(self, unit: Unit) -> int | None:
        """`find` for the usual unit: one word, all of it in one piece."""
        ((piece, bits),) = unit.bits[0]
        ((_, first_bits),) = unit.first_bits
        taken, top, has_pairs = self.taken[piece], self.top, unit.file != "P"
        lowest = adjacent = None
        for base in range(0, self.limit, unit.align):
            if taken[base] & bits:
                continue
            if not has_pairs:
                return base
            if base >= top and lowest is not None:
                break
            if base ^ 1 < top and taken[base ^ 1] & first_bits:
                if not self.quads:
                    return base
                far = base & ~3 | ~base & 2
                if (taken[far] | taken[far + 1]) & first_bits:
                    return base
                adjacent = base if adjacent is None else adjacent
            lowest = base if lowest is None else lowest
        return lowest if adjacent is None else adjacent

    def fits(self, unit: Unit, base: int) -> bool:
        taken = self.taken
        for place, bits in enumerate(unit.bits, base):
            for piece, mask in bits:
                if taken[piece][place] & mask:
                    return False
        return True

    def free(self, place: int, bits: Bits) -> bool:
        return not any(self.taken[piece][place] & mask for piece, mask in bits)

    def take(self, unit: Unit, base: int):
        self.top = max(self.top, base + len(unit.lanes))
        taken = self.taken
        for place, bits in enumerate(unit.bits, base):
            for piece, mask in bits:
                taken[piece][place] |= mask


class _Reserved:
    """The places that are taken before any unit has one: the stack pointer's word, and what calls overwrite."""

    def __init__(self, body: Body, quads: bool):
        self.quads = quads
        clobbers: dict[tuple[str, int], list[Segment]] = {}  # by file and number of places
        index = 0
        for block in body.blocks:
            for inst in block.insts:
                if inst.clobbers:
                    for file, count in zip("RP", inst.clobbers, strict=True):
                        # Between the call's reads at 2 i and the next instruction's: arguments may be in registers
                        # that it overwrites.
                        places = min(count, LIMITS[file])
                        clobbers.setdefault((file, places), []).append((2 * index + 1, 2 * index + 2))
                index += 1
        n_pieces = 2 * index // _PIECE + 1
        # A quad's neighbours may be looked at beyond the limit.
        self.taken = {file: [[0] * (limit + 4) for _ in range(n_pieces)] for file, limit in LIMITS.items()}
        for (file, places), segments in clobbers.items():
            for piece, bits in _bits_of(segments):
                taken = self.taken[file][piece]
                for place in range(places):
                    if place != STACK_POINTER or file == "P":
                        taken[place] |= bits
        # Live from end to end, so that no value gets the word.
        for piece, bits in _bits_of([(0, 2 * index)]):
            self.taken["R"][piece][STACK_POINTER] |= bits

    def files(self) -> dict[str, _File]:
        return {
            file: _File(LIMITS[file], [list(piece) for piece in taken], self.quads)
            for file, taken in self.taken.items()
        }
