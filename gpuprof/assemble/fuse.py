"""Multiplications and additions that one instruction does together, as a real assembler joins them."""

from gpuprof.assemble.defs import single_definitions, uses_of
from gpuprof.assemble.ir import Body, Inst
from gpuprof.isa.opcodes import BY_NAME

_WIDENING = {"CVT.S64.S32": "IMUL.WIDE.S32", "CVT.U64.U32": "IMUL.WIDE.U32"}
_PRODUCTS = {"IMUL.WIDE.S32": ("IADD.64", "IMAD.WIDE.S32"), "IMUL.WIDE.U32": ("IADD.64", "IMAD.WIDE.U32"), "IMUL": ("IADD", "IMAD")}
_MOST_COPIES = 4  # a product with more readers is computed once


def widen_shifts(body: Body) -> None:
    """(long)x << k becomes one widening multiplication."""
    single = single_definitions(body)
    for inst in body.instructions():
        if inst.op.name == "SHL.64" and inst.slot == "b" and not inst.const and inst.imm < 31:
            source = single.get(inst.a)
            if source and source.op.name in _WIDENING and source.guard is None and source.a in single:
                inst.op = BY_NAME[_WIDENING[source.op.name]]
                inst.a, inst.imm = source.a, 1 << inst.imm


def fuse_multiply_add(body: Body) -> None:
    """x * y + z, when every reader of the product adds to it."""
    single = single_definitions(body)
    users = uses_of(body)
    for register, product in single.items():
        names = _PRODUCTS.get(product.op.name)
        readers = users.get(register, [])
        if not names or product.guard is not None or not 0 < len(readers) <= (_MOST_COPIES if product.op.dst == "D" else 1):
            continue
        if any(r is not None and r not in single for r in (product.a, product.b)):
            continue
        if all(_adds(reader, names[0], register, product) for reader in readers):
            for reader in readers:
                _fuse(reader, names[1], register, product)


def _adds(inst: Inst, name: str, register: int, product: Inst) -> bool:
    """Whether it is an addition of the product that leaves the immediate to the product."""
    if inst.op.name != name or (inst.a == register) == (inst.b == register):
        return False
    return not (inst.slot and product.slot)


def _fuse(inst: Inst, name: str, register: int, product: Inst):
    other = inst.b if inst.a == register else inst.a
    if inst.slot:
        inst.slot = "c"
    else:
        inst.slot, inst.imm, inst.const = product.slot, product.imm, product.const
    inst.op = BY_NAME[name]
    inst.a, inst.b, inst.c = product.a, product.b, other
