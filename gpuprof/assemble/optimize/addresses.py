"""Accesses whose addresses differ by a number share one base register, each with an offset of its own: as the real
assembler does.

An address is a sum of registers times numbers, plus a number: `(row * 8 + k) * 4 + array` in each of eight turns is one
such sum eight times, but for the number. What an OR sets where the other side is known to be zero is added. The base is
the address of the first access of a block: it was used, so it is an address, and no offset from it to another address
passes the ends of the numbers.
"""

from collections import Counter

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import definitions, single_definitions
from gpuprof.assemble.ir.known_bits import KnownBits
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import by_number

_FARTHEST = 1 << 23  # the offset of a machine instruction has 24 bits
_DEEPEST = 16  # definitions looked through in other blocks
_MOST_TERMS = 8  # longer sums stay as they are
_ALL = 0xFFFFFFFF
_NBITS = {"R": 32, "D": 64}

Atom = tuple[int, int]  # a register, and how often the block had written it
Form = tuple[frozenset[tuple[Atom, int]], int]  # atoms with their factors, and a number


def share_addresses(body: Body) -> None:
    if not any(_is_addressed(inst) for inst in body.instructions()):
        return
    single = single_definitions(body)
    bits = KnownBits(definitions(body))
    outside: dict[int, Form] = {}
    for block in body.blocks:
        if sum(_is_addressed(inst) for inst in block.insts) > 1:
            _Shared(body, single, bits, outside).share(block)


def _is_addressed(inst: Inst) -> bool:
    return inst.op.a == "A" and inst.a.__class__ is int and not inst.symbol and not inst.outgoing


class _Shared:
    """`outside`: the forms of registers that other blocks make, by register."""

    def __init__(self, body: Body, single: dict[int, Inst], bits: KnownBits, outside: dict[int, Form]):
        self.body, self.single, self.bits, self.outside = body, single, bits, outside
        self.here: dict[int, Form] = {}  # of registers that the block has written
        self.version: Counter[int] = Counter()
        # by file and atoms -> base, its version, and the number in it
        self.bases: dict[tuple[str, frozenset], tuple[int, int, int]] = {}

    def share(self, block: Block) -> None:
        self.written = {register for inst in block.insts for register in inst.writes()}
        for inst in block.insts:
            if _is_addressed(inst):
                self._rebase(inst)
            form = self._made_by(inst)
            for register in inst.writes():
                self.version[register] += 1
                self.here.pop(register, None)
            if form is not None:
                self.here[inst.dst] = form

    def _rebase(self, inst: Inst) -> None:
        file = self.body.files[inst.a]
        atoms, number = self._of(inst.a)
        base = self.bases.get((file, atoms))
        if base is not None and self.version[base[0]] == base[1]:
            offset = _signed(inst.imm + number - base[2], _NBITS[file])
            if -_FARTHEST <= offset < _FARTHEST:
                inst.a, inst.imm = base[0], offset & _ALL
                return
        if inst.guard is None:
            self.bases[file, atoms] = inst.a, self.version[inst.a], number

    # forms

    def _of(self, register: int, depth: int = _DEEPEST) -> Form:
        if register in self.here:
            return self.here[register]
        if register in self.written:
            return self._atom(register)
        if register not in self.outside:
            self.outside[register] = self._atom(register)  # it may be made from itself
            inst = self.single.get(register)
            # What other blocks make is looked through only where all sources are written once, and not here.
            known = inst is not None and depth and all(r in self.single and r not in self.written for r in inst.reads())
            form = self._made_by(inst, depth - 1) if known else None
            if form is None or any(atom in self.written for (atom, _), _ in form[0]):
                return self.outside.pop(register)
            self.outside[register] = form
        if any(atom in self.written for (atom, _), _ in self.outside[register][0]):
            return self._atom(register)
        return self.outside[register]

    def _atom(self, register: int) -> Form:
        return frozenset({((register, self.version[register]), 1)}), 0

    def _made_by(self, inst: Inst, depth: int = _DEEPEST) -> Form | None:
        """The sum that the instruction puts into its destination; None where it is no such sum."""
        rule = _FORMS.get(inst.op.number)
        if rule is None or inst.guard is not None or inst.symbol or inst.negated or inst.dst.__class__ is not int:
            return None
        nbits = _NBITS[inst.op.dst]
        form = rule(inst, lambda slot: self._source(inst, slot, nbits, depth), self.bits)
        return form if form is None or len(form[0]) <= _MOST_TERMS else None

    def _source(self, inst: Inst, slot: str, nbits: int, depth: int) -> Form | None:
        if inst.slot == slot:
            return None if inst.const else (frozenset(), _signed(inst.imm, 32) & (1 << nbits) - 1)
        register = getattr(inst, slot)
        return (frozenset(), 0) if register is None else self._of(register, depth)


def _signed(value: int, nbits: int) -> int:
    value &= (1 << nbits) - 1
    return value - (1 << nbits) if value >> nbits - 1 else value


def _plus(inst: Inst, *forms: Form | None) -> Form | None:
    if None in forms:
        return None
    mask = (1 << _NBITS[inst.op.dst]) - 1
    factors: Counter[Atom] = Counter()
    for atoms, _ in forms:
        for atom, factor in atoms:
            factors[atom] = factors[atom] + factor & mask
    return frozenset(each for each in factors.items() if each[1]), sum(number for _, number in forms) & mask


def _times(inst: Inst, form: Form | None, factor: int) -> Form | None:
    if form is None:
        return None
    mask = (1 << _NBITS[inst.op.dst]) - 1
    atoms = ((atom, each * factor & mask) for atom, each in form[0])
    return frozenset(each for each in atoms if each[1]), form[1] * factor & mask


def _shifted(inst: Inst, form: Form | None) -> Form | None:
    return _times(inst, form, 1 << inst.imm) if inst.slot == "b" and not inst.const and inst.imm < 32 else None


def _product(inst: Inst, of) -> Form | None:
    for slot, other in (("a", "b"), ("b", "a")):
        factor = of(slot)
        if factor is not None and not factor[0]:
            return _times(inst, of(other), factor[1])
    return None


def _or(inst: Inst, of, bits: KnownBits) -> Form | None:
    """A sum where no bit can be set on both sides."""
    zeros = [bits.of_source(inst, slot).zeros for slot in "ab"]
    mask = (1 << _NBITS[inst.op.dst]) - 1
    return _plus(inst, of("a"), of("b")) if (zeros[0] | zeros[1]) & mask == mask else None


_FORMS = by_number({
    "MOV": lambda inst, of, _: of("a"),
    "MOV.64": lambda inst, of, _: of("a"),
    "MOVI.64": lambda inst, of, _: (frozenset(), inst.imm & (1 << 64) - 1),
    "IADD": lambda inst, of, _: _plus(inst, of("a"), of("b")),
    "IADD.64": lambda inst, of, _: _plus(inst, of("a"), of("b")),
    "IADD3": lambda inst, of, _: _plus(inst, of("a"), of("b"), of("c")),
    "SHL": lambda inst, of, _: _shifted(inst, of("a")),
    "SHL.64": lambda inst, of, _: _shifted(inst, of("a")),
    "LEA": lambda inst, of, _: _plus(inst, _times(inst, of("a"), 1 << FIELDS["by"].get(inst.mods)), of("b")),
    "IMUL": lambda inst, of, _: _product(inst, of),
    "IMAD": lambda inst, of, _: _plus(inst, _product(inst, of), of("c")),
    "OR": _or,
    "OR.64": _or,
})  # fmt: skip
