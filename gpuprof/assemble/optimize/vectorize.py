"""Loads from shared memory of neighbouring words become one, where the address is known to be aligned: as the real
assembler does.
"""

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import definitions, single_definitions
from gpuprof.assemble.ir.known_bits import KnownBits
from gpuprof.assemble.ir.memory_order import conflict, is_access, is_fence, is_write
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME

_WORD = 4
_NARROW = BY_NAME["LDS.32"]
_WIDE = {4: BY_NAME["LDS.V4.32"], 2: BY_NAME["LDS.V2.32"]}


def join_shared_loads(body: Body) -> None:
    single = None
    for block in body.blocks:
        if sum(inst.op is _NARROW for inst in block.insts) > 1:
            if single is None:
                single = single_definitions(body)
                bits = KnownBits(definitions(body))
            _join_in(block, single, bits)


def _join_in(block: Block, single: dict[int, Inst], bits: KnownBits) -> None:
    # by base register: (offset, load), since the last write that may touch them
    open_loads: dict[int | None, list[tuple[int, Inst]]] = {}
    first: dict[int, Inst] = {}  # id of a load that comes first in its group -> what takes its place
    gone: set[int] = set()
    read: set[int] = set()  # registers read so far: a load of one cannot move up past that
    for inst in block.insts:
        if is_fence(inst) or (is_access(inst) and is_write(inst)):
            # A wide load reads all words where the first narrow one stood, so no write to them may lie between.
            for base in [
                b for b, loads in open_loads.items() if is_fence(inst) or any(conflict(load, inst) for _, load in loads)
            ]:
                _close(base, open_loads.pop(base), bits, first, gone)
        read.update(inst.reads())
        if _is_plain(inst) and inst.dst in single and inst.dst not in read:
            open_loads.setdefault(inst.a, []).append(((inst.imm ^ 0x80000000) - 0x80000000, inst))
        for register in inst.writes():
            if register in open_loads:
                _close(register, open_loads.pop(register), bits, first, gone)
    for base, loads in open_loads.items():
        _close(base, loads, bits, first, gone)
    if gone:
        block.insts = [first.get(id(inst), inst) for inst in block.insts if id(inst) not in gone]


def _is_plain(inst: Inst) -> bool:
    return (
        inst.op is _NARROW
        and inst.guard is None
        and not inst.symbol
        and not inst.outgoing
        and not FIELDS["sem"].get(inst.mods)
    )


def _close(
    base: int | None, loads: list[tuple[int, Inst]], bits: KnownBits, first: dict[int, Inst], gone: set[int]
) -> None:
    """Groups of four, then of two, among loads from one base."""
    known = bits.of(base)
    order = {id(inst): index for index, (_, inst) in enumerate(loads)}
    by_offset = dict(reversed(loads))  # of two that load the same, the first
    for count in (4, 2):
        size = count * _WORD
        if 1 << known.n_low_known < size:
            continue
        for offset in sorted(by_offset):
            group = [by_offset.get(offset + _WORD * k) for k in range(count)]
            if (known.ones + offset) % size or None in group or len({inst.mods for inst in group}) > 1:
                continue
            lead = min(group, key=lambda inst: order[id(inst)])
            wide = Inst(
                _WIDE[count], dst=tuple(inst.dst for inst in group), a=base, imm=offset & 0xFFFFFFFF, mods=lead.mods
            )
            wide.line, wide.location = lead.line, lead.location
            first[id(lead)] = wide
            gone.update(id(inst) for inst in group if inst is not lead)
            for k in range(count):
                del by_offset[offset + _WORD * k]
