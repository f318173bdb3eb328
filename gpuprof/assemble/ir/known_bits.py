"""Bits of registers that are known: always zero, or always one. All masks have 64 bits: of a 32-bit register the upper
half is known to be zero.
"""

from collections.abc import Sequence

from gpuprof.assemble.ir.body import Inst
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import by_number
from gpuprof.isa.special import SPECIAL_INDEX

_ALL = 0xFFFFFFFFFFFFFFFF
_LOWER = 0xFFFFFFFF
_DEEPEST = 16  # definitions looked through
_SIGN = 0x80000000  # of an immediate; one of 64 bits is extended by it
_LOW = (4, 3)  # bits that decide on wide accesses of shared memory


class Bits:
    """Masks of the bits that are zero and of those that are one."""

    __slots__ = ("ones", "zeros")

    def __init__(self, zeros: int, ones: int):
        self.zeros, self.ones = zeros & _ALL, ones & _ALL

    @property
    def most(self) -> int:
        """The greatest unsigned number that it can be."""
        return ~self.zeros & _ALL

    @property
    def n_low_zeros(self) -> int:
        """Zero bits at the low end, up to 64."""
        return _n_trailing_ones(self.zeros)

    @property
    def n_low_known(self) -> int:
        """Known bits at the low end, up to 64."""
        return _n_trailing_ones(self.zeros | self.ones)


def _n_trailing_ones(mask: int) -> int:
    lowest = ~mask & _ALL
    return (lowest & -lowest).bit_length() - 1 if lowest else 64


def of_number(value: int) -> Bits:
    return Bits(~value, value)


UNKNOWN = Bits(0, 0)


def lower(bits: Bits) -> Bits:
    """The lower half as a number of its own."""
    return Bits(bits.zeros | ~_LOWER, bits.ones & _LOWER)


class KnownBits:
    """`definitions`: the instructions that write each register. Each register is looked at once, so that a body's cost
    is linear; values after too many definitions are not known.
    """

    def __init__(self, definitions: dict[int, list[Inst]], assumed: dict[int, Bits] | None = None):
        """`assumed`: what is to hold of some registers; of others that are written often, nothing is known then."""
        self.definitions = definitions
        self.assumes = assumed is not None
        self.found: dict[int, Bits] = dict(assumed or {})

    def of(self, register: int | None, depth: int = _DEEPEST) -> Bits:
        if register is None:
            return of_number(0)
        if register in self.found:
            return self.found[register]
        # A register may be made from itself.
        self.found[register] = UNKNOWN
        insts = self.definitions.get(register, ())
        if len(insts) == 1:
            self.found[register] = self._made_by(insts[0], depth)
        elif depth and not self.assumes:
            self.found[register] = self._low_of_all(register, insts)
        return self.found[register]

    def _made_by(self, inst: Inst, depth: int) -> Bits:
        is_narrow = inst.op.dst == "R"
        rule = _RULES.get(inst.op.number)
        if rule is None or inst.symbol or inst.negated or not depth:
            return lower(UNKNOWN) if is_narrow else UNKNOWN
        bits = rule(inst, lambda slot: self.of_source(inst, slot, depth - 1))
        return lower(bits) if is_narrow else bits

    def _low_of_all(self, register: int, insts: Sequence[Inst]) -> Bits:
        """The low bits of what a loop adds a multiple of 8 or 16 to: they are those of its start, if all other
        writers leave them when they are so.
        """
        for n in _LOW:
            start = next((bits for inst in insts if (bits := self._made_by(inst, _DEEPEST - 1)).n_low_known >= n), None)
            if start is None:
                continue
            mask = (1 << n) - 1
            assumed = Bits(start.zeros & mask, start.ones & mask)
            trial = KnownBits(self.definitions, {register: assumed})
            made = [trial._made_by(inst, _DEEPEST - 1) for inst in insts]
            if all(bits.n_low_known >= n and bits.ones & mask == assumed.ones for bits in made):
                return assumed
        return UNKNOWN

    def of_source(self, inst: Inst, slot: str, depth: int = _DEEPEST) -> Bits:
        is_wide = getattr(inst.op, slot) == "D"
        if inst.slot != slot:
            bits = self.of(getattr(inst, slot), depth)
        elif inst.const:
            bits = UNKNOWN
        else:
            bits = of_number((inst.imm ^ _SIGN) - _SIGN if is_wide else inst.imm)
        return bits if is_wide else lower(bits)


def _low_zeros(n: int) -> Bits:
    return Bits((1 << min(n, 64)) - 1, 0)


def _up_to(most: int) -> Bits:
    """The known bits of a number that is not greater than this."""
    return Bits(~((1 << most.bit_length()) - 1), 0)


def _both(one: Bits, other: Bits) -> Bits:
    return Bits(one.zeros | other.zeros, one.ones | other.ones)


def _sum(*parts: Bits) -> Bits:
    """Low bits are known as far as all parts' are, and zero as far as all parts' are."""
    known = (1 << min(part.n_low_known for part in parts)) - 1
    number = sum(part.ones & known for part in parts)
    low = _both(Bits(~number & known, number & known), _low_zeros(min(part.n_low_zeros for part in parts)))
    most = sum(part.most for part in parts)
    return low if most > _ALL else _both(low, _up_to(most))


def _product(one: Bits, other: Bits) -> Bits:
    most = one.most * other.most
    low = _low_zeros(one.n_low_zeros + other.n_low_zeros)
    return low if most > _ALL else _both(low, _up_to(most))


def _left(value: Bits, n: int) -> Bits:
    return Bits(value.zeros << n | (1 << n) - 1, value.ones << n)


def _shift_left(inst: Inst, of) -> Bits:
    if inst.slot != "b" or inst.const:
        return _low_zeros(of("a").n_low_zeros)
    return _left(of("a"), min(inst.imm, 64))


def _shift_right(inst: Inst, of) -> Bits:
    if inst.slot != "b" or inst.const:
        return _up_to(of("a").most)
    value, n = of("a"), min(inst.imm, 64)
    return Bits(value.zeros >> n | ~(_ALL >> n), value.ones >> n)


def _logic(inst: Inst, of) -> Bits:
    """LOP3: a bit is known if the table has one answer for all that its sources may be there."""
    table, sources = FIELDS["lut"].get(inst.mods), [of(slot) for slot in "abc"]
    may_be_one = may_be_zero = 0
    for index in range(8):
        possible = _ALL
        for place, bits in enumerate(sources):
            possible &= ~bits.zeros if index >> 2 - place & 1 else ~bits.ones
        if table >> index & 1:
            may_be_one |= possible
        else:
            may_be_zero |= possible
    return Bits(~may_be_one, ~may_be_zero)


def _and(one: Bits, other: Bits) -> Bits:
    return Bits(one.zeros | other.zeros, one.ones & other.ones)


def _or(one: Bits, other: Bits) -> Bits:
    return Bits(one.zeros & other.zeros, one.ones | other.ones)


def _xor(one: Bits, other: Bits) -> Bits:
    return Bits(one.zeros & other.zeros | one.ones & other.ones, one.zeros & other.ones | one.ones & other.zeros)


# No block has more threads.
_MOST = {SPECIAL_INDEX[name]: most for name, most in (("tid.x", 1023), ("tid.y", 1023), ("tid.z", 63), ("laneid", 31))}


def _special(inst: Inst, of) -> Bits:
    return _up_to(_MOST.get(inst.imm, _ALL))


_NARROW = {
    "S2R": _special,
    "MOV": lambda inst, of: of("a"),
    "IADD": lambda inst, of: _sum(of("a"), of("b")),
    "IADD3": lambda inst, of: _sum(of("a"), of("b"), of("c")),
    "ISUB": lambda inst, of: _low_zeros(min(of("a").n_low_zeros, of("b").n_low_zeros)),
    "AND": lambda inst, of: _and(of("a"), of("b")),
    "OR": lambda inst, of: _or(of("a"), of("b")),
    "XOR": lambda inst, of: _xor(of("a"), of("b")),
    "LOP3": _logic,
    "IMUL": lambda inst, of: _product(of("a"), of("b")),
    "IMAD": lambda inst, of: _sum(_product(of("a"), of("b")), of("c")),
    "SHL": _shift_left,
    "SHR.U32": _shift_right,
    "LEA": lambda inst, of: _sum(_left(of("a"), FIELDS["by"].get(inst.mods)), of("b")),
    "LO.64": lambda inst, of: of("a"),
    "HI.64": lambda inst, of: Bits(of("a").zeros >> 32, of("a").ones >> 32),
}  # fmt: skip
_WIDE = {
    **{f"{name}.64": _NARROW[name] for name in ("MOV", "IADD", "ISUB", "AND", "OR", "XOR", "IMUL", "IMAD", "SHL")},
    "MOVI.64": lambda inst, of: of_number(inst.imm),
    "SHR.U64": _shift_right,
    "CVT.U64.U32": lambda inst, of: of("a"),
    "IMUL.WIDE.U32": _NARROW["IMUL"],
    "IMAD.WIDE.U32": _NARROW["IMAD"],
    "PACK.64": lambda inst, of: Bits(
        of("b").zeros << 32 | of("a").zeros & _LOWER, of("b").ones << 32 | of("a").ones & _LOWER
    ),
}
_RULES = by_number(_NARROW | _WIDE)
