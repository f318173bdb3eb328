"""64-bit values whose upper half is known to be zero are in one register between blocks, as ptxas has them: it keeps
the two halves of a value apart.

A block that reads the value puts the pair together again. That takes no issue slot: PACK.64 and LO.64 only name halves.
"""

from gpuprof.assemble.ir.body import Body, Inst, groups_of
from gpuprof.assemble.ir.defs import definitions, replace_reads, single_definitions
from gpuprof.assemble.ir.known_bits import KnownBits
from gpuprof.isa.opcodes import BY_NAME, numbers

_UPPER = 0xFFFFFFFF << 32
_LOW, _PACK = BY_NAME["LO.64"], BY_NAME["PACK.64"]
_EXTENSIONS = numbers("CVT.U64.U32")


def keep_lower_halves(body: Body) -> bool:
    """Each block reads such a value from a pair of its own; from the block that makes it on, its lower half lives. Says
    whether there was such a value.
    """
    lower = _lower_halves(body)
    if not lower:
        return False
    for block in body.blocks:
        here: set[int] = set()  # made in this block
        result: list[Inst] = []
        for inst in block.insts:
            pairs: dict[int, int] = {}
            for register in inst.reads():
                if register in lower and register not in here and register not in pairs:
                    pairs[register] = body.register("D")
                    result.append(_like(inst, _PACK, dst=pairs[register], a=lower[register]))
            replace_reads(inst, pairs)
            result.append(inst)
            made = [register for register in inst.writes() if register in lower]
            here.update(made)
            result += [
                _like(inst, _LOW, dst=lower[register], a=register) for register in made if lower[register] != inst.a
            ]
        block.insts = result
    return True


def _lower_halves(body: Body) -> dict[int, int]:
    """The registers that are stored so, and the register of the lower half of each: where it was extended from one that
    keeps its value, that one.
    """
    single = single_definitions(body)
    bits = KnownBits(definitions(body))
    grouped = {register for inst in body.instructions() for group in groups_of(inst) for register in group}
    halves: dict[int, int] = {}
    for register in sorted(_read_elsewhere(body)):
        inst = single.get(register)
        if (
            inst is None or body.files[register] != "D" or register in body.uniform or register in grouped
            or inst.dst != register or inst.guard is not None or bits.of(register).zeros & _UPPER != _UPPER
        ):  # fmt: skip
            continue
        is_extended = inst.op.number in _EXTENSIONS and inst.a in single and not inst.mods
        halves[register] = inst.a if is_extended else body.register("R")
    return halves


def _read_elsewhere(body: Body) -> set[int]:
    """Registers that are read in a block that does not write them."""
    registers: set[int] = set()
    for block in body.blocks:
        written = {register for inst in block.insts for register in inst.writes()}
        registers.update(register for inst in block.insts for register in inst.reads() if register not in written)
    return registers


def _like(inst: Inst, op, **slots) -> Inst:
    return Inst(op, line=inst.line, location=inst.location, **slots)
