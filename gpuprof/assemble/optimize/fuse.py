"""Multiplications and additions that one instruction does together, as a real assembler joins them."""

from gpuprof.assemble.ir.body import Body, Inst
from gpuprof.assemble.ir.defs import single_definitions, uses_of
from gpuprof.assemble.optimize.combine import Makers
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME, by_number, numbers
from gpuprof.isa.row import Opcode

_SHIFT = BY_NAME["SHL.64"]
_PRODUCT = BY_NAME["IMUL"]
_WIDENING = by_number({"CVT.S64.S32": BY_NAME["IMUL.WIDE.S32"], "CVT.U64.U32": BY_NAME["IMUL.WIDE.U32"]})
_PRODUCTS = by_number(
    {
        "IMUL.WIDE.S32": (BY_NAME["IADD.64"], BY_NAME["IMAD.WIDE.S32"]),
        "IMUL.WIDE.U32": (BY_NAME["IADD.64"], BY_NAME["IMAD.WIDE.U32"]),
        "IMUL": (BY_NAME["IADD"], BY_NAME["IMAD"]),
    }
)


def widen_shifts(body: Body) -> None:
    """(long)x << k becomes one widening multiplication."""
    single = single_definitions(body)
    for inst in body.instructions():
        # The factor 1 << k has to be positive as a signed 32-bit number.
        if inst.op is _SHIFT and inst.slot == "b" and not inst.const and inst.imm < 31:
            source = single.get(inst.a)
            if source and source.op.number in _WIDENING and source.guard is None and source.a in single:
                inst.op = _WIDENING[source.op.number]
                inst.a, inst.imm = source.a, 1 << inst.imm


def join_halves(body: Body) -> None:
    """The low and the high word of one product are one widening multiplication."""
    if not any(inst.op.number in _HIGH for inst in body.instructions()):
        return
    makers = Makers(body)
    for block in body.blocks:
        lows: dict[tuple, Inst] = {}
        highs: dict[tuple, Inst] = {}
        behind: dict[int, Inst] = {}  # id of the first of two -> the half that it had, taken from the whole
        for inst in block.insts:
            own, others = (lows, highs) if inst.op is _PRODUCT else (highs, lows)
            if (
                (inst.op is not _PRODUCT and inst.op.number not in _HIGH)
                or inst.guard is not None
                or inst.dst not in makers.single
            ):
                continue
            factors = ((inst.slot == slot, -1 if getattr(inst, slot) is None else getattr(inst, slot)) for slot in "ab")
            key = (*sorted(factors), inst.imm, inst.const)  # they commute
            first = others.pop(key, None)
            if first is not None and all(makers.keeps(source, first, inst) for source in (inst.a, inst.b)):
                behind[id(first)] = _as_halves(body, first, inst)
            else:
                own[key] = inst
        if behind:
            block.insts = [each for inst in block.insts for each in (inst, behind.get(id(inst))) if each is not None]


_HIGH = by_number({"IMULHI.U32": BY_NAME["IMUL.WIDE.U32"], "IMULHI.S32": BY_NAME["IMUL.WIDE.S32"]})


def _as_halves(body: Body, first: Inst, second: Inst) -> Inst:
    """`first` becomes the whole product, `second` its half; the other half is to follow `first`."""
    whole = body.register("D")
    high = first if first.op.number in _HIGH else second
    wide = _HIGH[high.op.number]
    half = {True: BY_NAME["HI.64"], False: BY_NAME["LO.64"]}
    behind = Inst(half[high is first], dst=first.dst, a=whole, line=first.line, location=first.location)
    second.op, second.a, second.b = half[high is second], whole, None
    second.slot, second.imm, second.const = "", 0, False
    first.op, first.dst = wide, whole
    return behind


def fuse_multiply_add(body: Body) -> None:
    """x * y + z, when every reader of the product adds to it."""
    products = {r: inst for r, inst in single_definitions(body).items() if inst.op.number in _PRODUCTS}
    if not products:
        return
    makers = Makers(body)
    users = uses_of(body, products)
    for register, product in products.items():
        rows = _PRODUCTS.get(product.op.number)
        readers = users.get(register, [])
        if (
            not rows
            or product.guard is not None
            # A 64-bit sum takes two slots and this one: ptxas 13.0 writes it for 32 readers, too.
            or not (readers and (product.op.dst == "D" or len(readers) == 1))
        ):
            continue
        if not all(makers.keeps(source, product, reader) for source in (product.a, product.b) for reader in readers):
            continue
        # If one reader cannot join it, the product stays, and fusing the others would save no slot.
        if all(_adds(reader, rows[0], register, product) for reader in readers):
            for reader in readers:
                _fuse(reader, rows[1], register, product)


def _adds(inst: Inst, addition: Opcode, register: int, product: Inst) -> bool:
    """True if `inst` adds to the product, and leaves the immediate to the product."""
    if inst.op is not addition or (inst.a == register) == (inst.b == register):
        return False
    return not (inst.slot and product.slot)


def _fuse(inst: Inst, op: Opcode, register: int, product: Inst):
    other = inst.b if inst.a == register else inst.a
    if inst.slot:
        inst.slot = "c"
    else:
        inst.slot, inst.imm, inst.const = product.slot, product.imm, product.const
    inst.op = op
    inst.a, inst.b, inst.c = product.a, product.b, other


_CONTRACTED = by_number({"FADD": (numbers("FMUL"), BY_NAME["FFMA"]), "DADD": (numbers("DMUL"), BY_NAME["DFMA"])})
_NEG = {slot: FIELDS["neg_" + slot].put(1) for slot in "abc"}
_FTZ, _SAT = FIELDS["ftz"].put(1), FIELDS["sat"].put(1)


def contract_products(body: Body) -> None:
    """x * y + z without a rounding in between, where PTX says none: `mul.f32` and `add.f32` may be contracted,
    `mul.rn.f32` may not.

    It changes results, so it is no optimisation to be left out. ptxas does the same without -fmad=false.
    """
    sums = [inst for inst in body.instructions() if inst.contracts and inst.op.number in _CONTRACTED]
    makers = Makers(body) if sums else None
    for inst in sums:
        products, fused = _CONTRACTED[inst.op.number]
        for slot, other in (("a", "b"), ("b", "a")):
            register = getattr(inst, slot)
            product = makers.maker(register, inst, products)
            # A product that saturates is clamped before the sum, and either both flush subnormals or neither, as by
            # ptxas' default (docs/ptx.md, Numbers).
            if (
                product
                and product.contracts
                and not product.mods & _SAT
                and not (product.mods ^ inst.mods) & _FTZ
                and not (product.slot and inst.slot)
            ):
                makers.joined(product, register)
                _contract(inst, fused, slot, other, product)
                break
    if makers and makers.gone:
        makers.drop(body)


def _contract(inst: Inst, op: Opcode, slot: str, other: str, product: Inst) -> None:
    """The sum becomes product + its other source. A negated product becomes the product of a negated factor."""
    negated = (_NEG["a"] if bool(product.mods & _NEG["a"]) != bool(inst.mods & _NEG[slot]) else 0) | (
        product.mods & _NEG["b"]
    )
    negated |= _NEG["c"] if inst.mods & _NEG[other] else 0
    addend = getattr(inst, other)
    inst.op, inst.mods = op, inst.mods & (_FTZ | _SAT) | negated
    if not inst.slot:
        inst.slot, inst.imm, inst.const = product.slot, product.imm, product.const
    else:
        inst.slot = "c"
    inst.a, inst.b, inst.c = product.a, product.b, addend
