"""Comparisons of two constants: their readers get the answer.

Inline assembly has them, as the `scale-d` of wgmma: what is multiplied first does not add to what the registers hold,
so these are free until then.

    setp.ne.s32 p, 0, 0;                     HGMMA.64x8x16.F32.SS R4, D2, D3, RZ, !PT
    wgmma.mma_async... {%f0, ...}, a, b, p;
"""

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne

from gpuprof.assemble.ir.body import READ_SLOTS, Body, Inst
from gpuprof.assemble.ir.defs import single_definitions
from gpuprof.assemble.optimize.fold import constant_of
from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import by_number

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}
_NBITS = by_number({"ISETP.S32": 32, "ISETP.U32": 32, "ISETP.S64": 64, "ISETP.U64": 64})
_ADDING = kinds_of("matrix_async")


def fold_known_predicates(body: Body) -> None:
    single = single_definitions(body)
    known = {
        register: answer
        for register, inst in single.items()
        if inst.op.number in _NBITS and (answer := _answer(inst, single)) is not None and inst.dst == register
    }
    for inst in body.instructions() if known else ():
        for slot in READ_SLOTS[inst.op.number]:
            register = getattr(inst, slot)
            if register.__class__ is int and register in known:
                setattr(inst, slot, None)
                if not known[register]:
                    inst.negated = inst.negated.replace(slot, "") if slot in inst.negated else inst.negated + slot
        if inst.op.kind in _ADDING and inst.e is None and "e" in inst.negated:
            inst.c = None


def _answer(inst: Inst, single: dict[int, Inst]) -> bool | None:
    """The answer of a comparison of two constants that no other predicate takes part in; None of another one."""
    values = [_constant(inst, slot, single) for slot in ("a", "b")]
    is_alone = inst.guard is None and inst.e is None and not inst.negated
    if None in values or not is_alone or FIELDS["bool"].get(inst.mods):
        return None
    compare = _COMPARISONS.get(FIELDS["cmp"].names[FIELDS["cmp"].get(inst.mods)])
    if compare is None:
        return None
    nbits = _NBITS[inst.op.number]
    is_signed = inst.op.types[-1][0] == "s"
    return compare(*(_extended(value, nbits, is_signed) for value in values))


def _constant(inst: Inst, slot: str, single: dict[int, Inst]) -> int | None:
    """The bits of a source, sign-extended from an immediate; None where they are not known."""
    if inst.slot == slot:
        return None if inst.const else (inst.imm ^ 0x80000000) - 0x80000000
    register = getattr(inst, slot)
    if register is None:
        return 0
    constant = constant_of(single[register]) if register in single else None
    return None if constant is None or constant.is_param else constant.value


def _extended(value: int, nbits: int, is_signed: bool) -> int:
    value &= (1 << nbits) - 1
    return value - (1 << nbits) if is_signed and value >> nbits - 1 else value
