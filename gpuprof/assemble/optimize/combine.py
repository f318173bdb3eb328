"""Two dependent instructions that the real assembler writes as one: additions of three, shift and add, logic of three,
tests, predicates.

Each rule looks at an instruction and at what made one of its sources. The maker may join its reader when its result
has no other reader and its own sources still have their values there.
"""

from bisect import bisect_left
from typing import NamedTuple

from gpuprof.assemble.ir.body import Body, Inst
from gpuprof.assemble.ir.defs import single_definitions, use_counts
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME, by_number, numbers

_BOOL, _CMP, _BY, _LUT = (FIELDS[name] for name in ("bool", "cmp", "by", "lut"))


class Makers:
    """The instructions that made registers which are written once; and whether another register still has the value it
    had at such an instruction.
    """

    def __init__(self, body: Body):
        self.single = single_definitions(body)
        self.count = use_counts(body)
        self.gone: set[int] = set()  # ids of makers that were joined
        self.at: dict[int, tuple[int, int]] = {}  # id of an instruction -> its block and its place there
        # By block, for registers that are written more than once: register -> places in the block.
        self.written: list[dict[int, list[int]]] = []
        single, at = self.single, self.at
        for number, block in enumerate(body.blocks):
            written: dict[int, list[int]] = {}
            self.written.append(written)
            for index, inst in enumerate(block.insts):
                at[id(inst)] = number, index
                for register in inst.writes():
                    if register not in single:
                        written.setdefault(register, []).append(index)

    def keeps(self, register, maker: Inst, reader: Inst) -> bool:
        """True if a register (or None) has the same value at both instructions."""
        if register is None:
            return True
        block, first = self.at[id(maker)]
        other, last = self.at[id(reader)]
        if block != other or first > last:
            # Between blocks, only a register that is written once is known to keep its value.
            return register in self.single
        if register in self.single:
            block_of_write, write = self.at[id(self.single[register])]
            return block_of_write != block or write < first or write >= last
        places = self.written[block].get(register, ())
        at = bisect_left(places, first)
        return at == len(places) or places[at] >= last

    def maker(self, register, reader: Inst, rows: frozenset[int], readers: int = 1) -> Inst | None:
        """The instruction that made `register`, if it is one of `rows`, at most `readers` instructions read the
        register, and `reader` can do its work, too. Else None.
        """
        if register.__class__ is not int or not 0 < self.count[register] <= readers:
            return None
        maker = self.single.get(register)
        if maker is None or maker.op.number not in rows or maker.guard is not None or maker.symbol:
            return None
        # In a loop a maker may come after its reader: the value is then that of the turn before.
        if self.at[id(maker)] >= self.at[id(reader)]:
            return None
        return maker if all(self.keeps(source, maker, reader) for source in (maker.a, maker.b, maker.c)) else None

    def joined(self, maker: Inst, register: int) -> None:
        """The one reader of `register` reads the maker's sources instead."""
        self.count[register] = 0
        self.gone.add(id(maker))

    def drop(self, body: Body) -> None:
        """Takes the makers that were joined out of the body."""
        for block in body.blocks:
            block.insts = [inst for inst in block.insts if id(inst) not in self.gone]


# -- sums ------------------------------------------------------------------------------------------

_ADD, _SHIFT = numbers("IADD"), numbers("SHL")


def _add_shifted(makers: Makers, inst: Inst) -> None:
    """(x << n) + y."""
    for slot, other in (("a", "b"), ("b", "a")):
        register = getattr(inst, slot)
        shift = makers.maker(register, inst, _SHIFT)
        if shift and shift.slot == "b" and not shift.const and 0 < shift.imm < 32 and shift.a is not None:
            addend = getattr(inst, other)
            makers.joined(shift, register)
            inst.op, inst.a, inst.b, inst.mods = BY_NAME["LEA"], shift.a, addend, _BY.put(shift.imm)
            inst.slot = "b" if inst.slot else ""
            return


def _add_three(makers: Makers, inst: Inst) -> None:
    """(x + y) + z, unless both sums hold an immediate."""
    for slot, other in (("a", "b"), ("b", "a")):
        register = getattr(inst, slot)
        inner = makers.maker(register, inst, _ADD)
        # An instruction has one field for an immediate.
        if not inner or (inner.slot and inst.slot):
            continue
        makers.joined(inner, register)
        third = getattr(inst, other)
        outer_slot = inst.slot
        inst.op, inst.a, inst.b, inst.c = BY_NAME["IADD3"], inner.a, inner.b, third
        if outer_slot:
            inst.slot = "c"
        else:
            inst.slot, inst.imm, inst.const = inner.slot, inner.imm, inner.const
        return


# -- logic -----------------------------------------------------------------------------------------

_LOP3, _NOT = BY_NAME["LOP3"], BY_NAME["NOT"]
_INPUTS = (0xF0, 0xCC, 0xAA)  # the truth tables of LOP3's sources themselves
_LUT_OF = by_number(
    {
        "AND": lambda a, b: a & b,
        "OR": lambda a, b: a | b,
        "XOR": lambda a, b: a ^ b,
        "NOT": lambda a, _: ~a & 0xFF,
    }
)
_LOGIC = frozenset(_LUT_OF) | numbers("LOP3")


class _Literal(NamedTuple):
    imm: int


def _inputs(inst: Inst) -> list:
    """The sources of an instruction of logic: registers, None for zero, and a literal."""
    slots = "a" if inst.op is _NOT else "abc" if inst.op is _LOP3 else "ab"
    return [_Literal(inst.imm) if inst.slot == slot else getattr(inst, slot) for slot in slots]


def _table(inst: Inst, columns: list[int]) -> int:
    """The truth table of an instruction of logic, with the truth tables `columns` in place of its sources."""
    if inst.op is not _LOP3:
        return _LUT_OF[inst.op.number](columns[0], columns[-1])
    lut, result = _LUT.get(inst.mods), 0
    for bit in range(8):
        index = sum((column >> bit & 1) << 2 - n for n, column in enumerate(columns))
        result |= (lut >> index & 1) << bit
    return result


def _logic_of_three(makers: Makers, inst: Inst) -> None:
    """Logic of a result of logic, as long as that takes three sources."""
    if inst.const:
        return
    for slot in ("a", "b", "c"):
        register = getattr(inst, slot)
        inner = makers.maker(register, inst, _LOGIC, readers=2)
        # Two readers are allowed where both are operands of this instruction.
        if inner is None or inner.const or makers.count[register] != _inputs(inst).count(register):
            continue
        own = _inputs(inst)
        wanted = list(dict.fromkeys(each for each in (*_inputs(inner), *own) if each is not None and each != register))
        literals = [each for each in wanted if each.__class__ is _Literal]
        if len(wanted) > 3 or len(literals) > 1:
            continue
        column = dict(zip(wanted, _INPUTS, strict=False)) | {None: 0}
        column[register] = _table(inner, [column[each] for each in _inputs(inner)])
        lut = _table(inst, [column[each] for each in own])
        makers.joined(inner, register)
        inst.op, inst.mods = _LOP3, _LUT.put(lut)
        inst.slot, inst.imm = "", 0
        for name, each in zip("abc", [*wanted, None, None, None], strict=False):
            setattr(inst, name, None if each.__class__ is _Literal else each)
            if each.__class__ is _Literal:
                inst.slot, inst.imm = name, each.imm
        return


# -- predicates ------------------------------------------------------------------------------------

_AND, _SETPS = numbers("AND"), numbers("ISETP.S32", "ISETP.U32", "ISETP.S64", "ISETP.U64")
_ZERO_TESTS = numbers("ISETP.U32", "ISETP.S32")
_PREDICATE_LOGIC = by_number({"PAND": "and", "POR": "or", "PXOR": "xor"})
_FLOAT_SETPS = numbers("FSETP", "DSETP")
_OPPOSITES = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
# Of a NaN, the opposite of what holds for no NaN holds for every one.
_FLOAT_OPPOSITES = {each: f"{other}u" for each, other in _OPPOSITES.items()} | {"num": "nan"}
_FLOAT_OPPOSITES |= {other: each for each, other in _FLOAT_OPPOSITES.items()}


def _test_bits(makers: Makers, inst: Inst) -> None:
    """(x & y) compared with zero."""
    compared = FIELDS["cmp"].names[_CMP.get(inst.mods)]
    if (
        compared not in ("eq", "ne")
        or _BOOL.get(inst.mods)
        or inst.b is not None
        or (inst.slot and (inst.const or inst.imm or inst.slot != "b"))
    ):
        return
    register = inst.a
    logic = makers.maker(register, inst, _AND)
    if logic is None:
        return
    makers.joined(logic, register)
    holds, fails = (inst.dst, inst.c) if compared == "ne" else (inst.c, inst.dst)
    inst.op, inst.mods, inst.e, inst.negated = BY_NAME["TEST"], 0, None, inst.negated.replace("e", "")
    inst.dst, inst.c, inst.a, inst.b = holds, fails, logic.a, logic.b
    inst.slot, inst.imm, inst.const = logic.slot, logic.imm, logic.const


def _combine_comparisons(makers: Makers, inst: Inst) -> None:
    """A comparison takes the predicate that its result is combined with."""
    for slot, other in (("b", "a"), ("a", "b")):
        register, third = getattr(inst, slot), getattr(inst, other)
        compare = makers.maker(register, inst, _SETPS | _FLOAT_SETPS)
        if (
            compare is None
            or third is None
            or third == register
            or _BOOL.get(compare.mods)
            or compare.c is not None
            or compare.dst != register
        ):
            continue
        mods = compare.mods
        if slot in inst.negated:
            name = FIELDS["cmp"].names[_CMP.get(mods)]
            opposites = _OPPOSITES if compare.op.number in _SETPS else _FLOAT_OPPOSITES
            mods = mods & ~_CMP.put(15) | _CMP.put(_CMP.value(opposites[name]))
        makers.joined(compare, register)
        negated = ("e" if other in inst.negated else "") + ("g" if "g" in inst.negated else "")
        inst.mods = mods | _BOOL.put(_BOOL.value(_PREDICATE_LOGIC[inst.op.number]))
        inst.op, inst.a, inst.b, inst.e, inst.negated = compare.op, compare.a, compare.b, third, negated
        inst.slot, inst.imm, inst.const = compare.slot, compare.imm, compare.const
        return


RULES = (
    (_combine_comparisons, frozenset(_PREDICATE_LOGIC)),
    (_test_bits, _ZERO_TESTS),
    (_add_shifted, _ADD),
    (_add_three, _ADD),
    (_logic_of_three, _LOGIC),
)


# A rule makes no instruction one of a row of RULES that was of none.
_ANY = frozenset().union(*(rows for _, rows in RULES))


def combine(body: Body) -> None:
    """Every rule on every instruction of its rows, one rule after the other."""
    candidates = [inst for inst in body.instructions() if inst.op.number in _ANY]
    if not candidates:
        return
    makers = Makers(body)
    for rule, rows in RULES:
        for inst in candidates:
            if inst.op.number in rows and id(inst) not in makers.gone:
                rule(makers, inst)
    if makers.gone:
        makers.drop(body)
