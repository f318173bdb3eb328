"""Wide loads from shared memory become narrow ones again where their registers are too many at once: a word that is
loaded where it is needed takes an issue slot, one that is spilled takes two and local memory.
"""

from gpuprof.assemble.ir.body import Body, Inst
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME, by_number

_WORD_NBYTES = 4
_NARROW = by_number({"LDS.V4.32": BY_NAME["LDS.32"], "LDS.V2.32": BY_NAME["LDS.32"]})


def split_shared_loads(body: Body) -> bool:
    """Says whether there was a load to split."""
    is_split = False
    for block in body.blocks:
        if any(_can_split(inst) for inst in block.insts):
            is_split = True
            block.insts = [new for inst in block.insts for new in (_words(inst) if _can_split(inst) else [inst])]
    return is_split


def _can_split(inst: Inst) -> bool:
    """A volatile access keeps its width, and one that overwrites its own address cannot be done word by word."""
    return inst.op.number in _NARROW and not FIELDS["sem"].get(inst.mods) and inst.a not in inst.dst


def _words(inst: Inst) -> list[Inst]:
    return [
        Inst(
            _NARROW[inst.op.number],
            dst=register,
            a=inst.a,
            imm=inst.imm + k * _WORD_NBYTES & 0xFFFFFFFF,
            guard=inst.guard,
            negated=inst.negated,
            mods=inst.mods,
            symbol=inst.symbol,
            fresh=inst.fresh,
            line=inst.line,
            location=inst.location,
        )
        for k, register in enumerate(inst.dst)
    ]
