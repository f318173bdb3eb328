"""Copies, constants, negations and address offsets move into the instructions that use them."""

from typing import NamedTuple

from gpuprof.assemble.ir.body import COPIES, READ_SLOTS, Body, Inst, encode_immediate, immediate_slots
from gpuprof.assemble.ir.defs import reads_any, replace_reads, single_definitions, uses_of
from gpuprof.isa.kinds import BLOCK_BARRIERS, kinds_of
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME, by_number, numbers

_MOV, _MOV64, _MOVI64, _PMOV = (BY_NAME[name] for name in ("MOV", "MOV.64", "MOVI.64", "PMOV"))
_MOVES = numbers("MOV", "MOV.64")
CONSTANT_MOVES = numbers("MOV", "MOV.64", "MOVI.64")
_SUM64 = BY_NAME["IADD.64"]

_ADDR64 = FIELDS["addr64"].put(1)


def propagate_copies(body: Body) -> None:
    """Readers of a copy read what it was made from, when both are written once."""
    single = single_definitions(body)
    source: dict[int, int] = {}
    for register, inst in single.items():
        if inst.op.number in COPIES and inst.is_copy and inst.guard is None and inst.a in single:
            source[register] = inst.a
    for register in source:
        seen = {register}
        # registers that are never set may be copied in a circle
        while source[register] in source and source[register] not in seen:
            seen.add(source[register])
            source[register] = source[source[register]]
    if source:
        for inst in body.instructions():
            replace_reads(inst, source)


def propagate_negations(body: Body) -> None:
    """`not p` as a guard or predicate source reads p negated."""
    single = single_definitions(body)
    source = {
        register: inst.a for register, inst in single.items()
        if inst.op is _PMOV and inst.negated == "a" and inst.guard is None and inst.a in single
    }  # fmt: skip
    for inst in body.instructions() if source else ():
        if inst.guard in source:
            inst.guard = source[inst.guard]
            inst.negated = _toggled(inst.negated, "g")
        for slot in READ_SLOTS[inst.op.number]:
            value = getattr(inst, slot)
            if value.__class__ is int and value in source:
                setattr(inst, slot, source[value])
                inst.negated = _toggled(inst.negated, slot)


def _toggled(letters: str, letter: str) -> str:
    return letters.replace(letter, "") if letter in letters else letters + letter


# -- constants -------------------------------------------------------------------------------------


class Constant(NamedTuple):
    value: int  # unsigned bits, or the offset in the parameter block
    is_param: bool


def constant_of(inst: Inst) -> Constant | None:
    """The constant that a move of an immediate or of a kernel parameter puts into its destination; None for another
    instruction.
    """
    if inst.guard is not None or inst.symbol:
        return None
    if inst.op is _MOVI64:
        return Constant(inst.imm & 0xFFFFFFFFFFFFFFFF, False)
    if inst.op.number not in _MOVES or inst.a is not None:
        return None
    if not inst.slot:
        return Constant(0, False)
    if inst.const:
        return Constant(inst.imm, True)
    # An immediate has 32 bits, and a 64-bit operand sign-extends it.
    wide = inst.op is _MOV64
    return Constant((inst.imm ^ 0x80000000) - 0x80000000 & 0xFFFFFFFFFFFFFFFF if wide else inst.imm, False)


def constant_move(register: int, file: str, value: int, like: Inst) -> Inst:
    """The instruction that puts a number into a register of file R or D, as part of the line of `like`."""
    inst = Inst(_MOV64 if file == "D" else _MOV, dst=register, line=like.line, location=like.location)
    _become_constant(inst, value)
    return inst


def fold_literals(body: Body) -> None:
    """Constants of the program text into the instructions that read them."""
    _fold(body, False)


def fold_parameters(body: Body) -> None:
    """Kernel parameters as constant-bank operands; after `fuse`, which needs to see the registers."""
    _fold(body, True)


def _fold(body: Body, params: bool) -> None:
    constants = {
        r: c
        for r, inst in single_definitions(body).items()
        if inst.op.number in CONSTANT_MOVES and (c := constant_of(inst)) and c.is_param == params
    }
    if not constants:
        return
    for inst in body.instructions():
        if not reads_any(inst, constants):
            continue
        for slot in READ_SLOTS[inst.op.number]:
            register = getattr(inst, slot)
            if register.__class__ is int and register in constants:
                fold_operand(inst, slot, constants[register])


def fold_operand(inst: Inst, slot: str, constant: Constant) -> bool:
    """Puts a constant into a source operand if the instruction can hold it."""
    if constant.is_param:
        return _fold_immediate(inst, slot, constant.value, const=True)
    if slot == "b" and (inst.op.number, constant.value) in _ADDS_ONE:
        inst.op, inst.b = _COUNT_LANES, None
        return True
    special = _SPECIAL_FOLDS.get(inst.op.kind)
    if special:
        return special(inst, slot, constant.value)
    if getattr(inst.op, slot) == "A":
        return _fold_address(inst, constant.value)
    if getattr(inst.op, slot) not in ("R", "D"):
        return False
    # an absent source of a barrier means the immediate, not zero
    if constant.value == 0 and inst.op.kind not in BLOCK_BARRIERS:
        setattr(inst, slot, None)
        return True
    encoded = encode_immediate(inst.op, slot, constant.value)
    return encoded is not None and _fold_immediate(inst, slot, encoded)


def _fold_immediate(inst: Inst, slot: str, imm: int, const: bool = False) -> bool:
    # An instruction has one field for an immediate or a place in the constant bank.
    if inst.slot or slot not in immediate_slots(inst.op):
        return False
    # Of these, operand b is the member mask, the only one that imm can stand for.
    if inst.op.kind in _MASKED and (const or slot != "b"):
        return False
    setattr(inst, slot, None)
    inst.slot, inst.imm, inst.const = slot, imm, const
    return True


_MASKED = kinds_of("vote", "match", "warp_reduction", "warp_sync", "elect")


def _fold_address(inst: Inst, value: int) -> bool:
    """A constant address, when it is small enough for imm (shared, local and constant memory)."""
    wide = bool(inst.mods & _ADDR64)
    offset = (inst.imm ^ 0x80000000) - 0x80000000
    address = value + offset
    if wide and not 0 <= address < 1 << 31:
        return False
    inst.a = None
    inst.imm = address & 0xFFFFFFFF
    inst.mods &= ~_ADDR64
    return True


def _fold_shuffle(inst: Inst, slot: str, value: int) -> bool:
    """Lane and clamp of a shuffle have fields of their own; the member mask is imm."""
    if slot == "e":
        inst.e, inst.imm = None, value
        return True
    if slot not in ("b", "c"):
        return False
    name, mask = {"b": ("lane", 0x1F), "c": ("clamp", 0x1F1F)}[slot]
    setattr(inst, slot, None)
    inst.mods |= FIELDS[name].put(value & mask) | FIELDS["has_" + name].put(1)
    return True


_SPECIAL_FOLDS = {"shuffle": _fold_shuffle}

# Reductions that add 1 to a word of shared memory with this operand: ptxas 13.0 counts lanes then, and only then.
_ADDS_ONE = {(BY_NAME["REDS.ADD.U32"].number, 1), (BY_NAME["REDS.INC.U32"].number, 0xFFFFFFFF)}
_COUNT_LANES = BY_NAME["REDS.POPC.INC.U32"]


# -- algebra ---------------------------------------------------------------------------------------


def simplify(body: Body) -> None:
    """x + 0, x * 1, x << 0 and the like become moves; sums of constants become constants."""
    for inst in body.instructions():
        rule = _IDENTITIES.get(inst.op.number)
        if rule:
            rule(inst)


def _literal(inst: Inst, slot: str) -> int | None:
    """The value of a constant integer source as a signed number; None when it is not constant."""
    if inst.slot == slot:
        return None if inst.const else (inst.imm ^ 0x80000000) - 0x80000000
    return 0 if getattr(inst, slot) is None else None


def _become_move(inst: Inst, slot: str):
    """inst = MOV of its source `slot`."""
    wide = inst.op.dst == "D"
    value = getattr(inst, slot)
    keeps = inst.slot == slot
    inst.op = _MOV64 if wide else _MOV
    inst.a, inst.b, inst.c, inst.e = value, None, None, None
    inst.slot, inst.const, inst.imm = ("a", inst.const, inst.imm) if keeps else ("", False, 0)
    inst.mods = 0


def _become_constant(inst: Inst, value: int):
    wide = inst.op.dst == "D"
    bits = value & (0xFFFFFFFFFFFFFFFF if wide else 0xFFFFFFFF)
    inst.a = inst.b = inst.c = inst.e = None
    inst.slot, inst.const, inst.mods = "", False, 0
    if not wide or encode_immediate(_MOV64, "a", bits) is not None:
        inst.op = _MOV64 if wide else _MOV
        inst.slot, inst.imm = ("a", bits & 0xFFFFFFFF) if bits else ("", 0)
    else:
        inst.op, inst.imm = _MOVI64, bits


def _sum(inst: Inst):
    a, b = _literal(inst, "a"), _literal(inst, "b")
    if a is not None and b is not None:
        _become_constant(inst, a + b)
    elif a == 0:
        _become_move(inst, "b")
    elif b == 0:
        _become_move(inst, "a")


def _right_zero(inst: Inst):
    if _literal(inst, "b") == 0:
        _become_move(inst, "a")


def _shift_left(inst: Inst):
    a, b = _literal(inst, "a"), _literal(inst, "b")
    if a is not None and b is not None and 0 <= b < 32:
        _become_constant(inst, a << b)
    else:
        _right_zero(inst)


def _product(inst: Inst):
    a, b = _literal(inst, "a"), _literal(inst, "b")
    if a is not None and b is not None:
        _become_constant(inst, a * b)
    elif 0 in (a, b):
        _become_constant(inst, 0)
    elif b == 1:
        _become_move(inst, "a")
    elif a == 1:
        _become_move(inst, "b")


def _half(shift: int):
    """The rule of the half of a 64-bit source from bit `shift` on."""

    def rule(inst: Inst):
        if (value := _literal(inst, "a")) is not None:
            _become_constant(inst, value >> shift)

    return rule


def _multiply_add(inst: Inst):
    """Without an addend it is a product."""
    if _literal(inst, "c") == 0 and inst.slot != "c":
        inst.op = _PRODUCT_OF[inst.op.number]
        inst.c = None


_PRODUCT_OF = by_number(
    {name: BY_NAME[name.replace("IMAD", "IMUL", 1)] for name in ("IMAD", "IMAD.WIDE.S32", "IMAD.WIDE.U32")}
)
# Only integers: x + 0.0 is not x when x is -0.0.
_IDENTITIES = by_number({
    "IADD": _sum, "IADD.64": _sum, "OR": _right_zero, "OR.64": _right_zero, "XOR": _right_zero,
    "ISUB": _right_zero, "ISUB.64": _right_zero, "SHL": _shift_left, "SHL.64": _shift_left, "SHR.U32": _right_zero,
    "SHR.S32": _right_zero,
    "IMUL": _product, "IMUL.64": _product, "IMAD": _multiply_add, "IMAD.WIDE.S32": _multiply_add,
    "IMAD.WIDE.U32": _multiply_add, "LO.64": _half(0), "HI.64": _half(32),
})  # fmt: skip


# -- negation of floats
# ------------------------------------------------------------------------------------------------------

_NEGATIONS = numbers("FNEG", "DNEG", "HNEG", "HNEG2", "BNEG", "BNEG2")
_NEGATABLE = numbers("FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "HADD", "HMUL", "HFMA", "HADD2", "HMUL2", "HFMA2")
_FTZ = FIELDS["ftz"].put(1)


def fold_float_negations(body: Body) -> None:
    """-x as a source of add, mul or fma is a bit of that instruction."""
    single = single_definitions(body)
    negations = {
        r: i for r, i in single.items()
        if i.op.number in _NEGATIONS and i.guard is None and i.a in single and not i.slot
    }  # fmt: skip
    for inst in body.instructions() if negations else ():
        if inst.op.number not in _NEGATABLE:
            continue
        for slot in ("a", "b", "c"):
            negation = negations.get(getattr(inst, slot))
            # A negation that flushes subnormals may only join an instruction that flushes its operands, too.
            if negation and negation.op.types == inst.op.types and (not negation.mods & _FTZ or inst.mods & _FTZ):
                setattr(inst, slot, negation.a)
                inst.mods ^= FIELDS["neg_" + slot].put(1)


# -- addresses -------------------------------------------------------------------------------------


def fold_offsets(body: Body) -> None:
    """[x + constant] where x + constant was computed before: into the instruction's own offset, if all readers can do
    so.
    """
    single = single_definitions(body)
    # 32-bit sums wrap around where the address unit does not.
    sums = {register: inst for register, inst in single.items() if inst.op is _SUM64}
    users = uses_of(body, sums) if sums else {}
    for register, inst in sums.items():
        if inst.slot != "b" or inst.const or inst.guard is not None or inst.a not in single:
            continue
        addend = (inst.imm ^ 0x80000000) - 0x80000000
        if all(_takes_offset(user, register, addend) for user in users.get(register, ())):
            for user in users.get(register, ()):
                user.a = inst.a
                user.imm = user.imm + addend & 0xFFFFFFFF


def _takes_offset(inst: Inst, register: int, addend: int) -> bool:
    # A store of the address itself, or a second use, still needs the sum.
    if inst.op.a != "A" or inst.a != register or list(inst.reads()).count(register) != 1:
        return False
    total = ((inst.imm ^ 0x80000000) - 0x80000000) + addend
    return -(1 << 31) <= total < 1 << 31
