"""Loads from shared memory of neighbouring words become one, where the address is known to be aligned: as the real
assembler does.
"""

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import single_definitions
from gpuprof.assemble.ir.memory_order import conflict, is_access, is_fence, is_write
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME, by_number

_WORD = 4
_NARROW = BY_NAME["LDS.32"]
_WIDE = {4: BY_NAME["LDS.V4.32"], 2: BY_NAME["LDS.V2.32"]}
_MOST_ALIGNED = 16
_DEEPEST = 12  # definitions looked through


def join_shared_loads(body: Body) -> None:
    single = None
    for block in body.blocks:
        if sum(inst.op is _NARROW for inst in block.insts) > 1:
            single = single or single_definitions(body)
            _join_in(block, single)


def _join_in(block: Block, single: dict[int, Inst]) -> None:
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
                _close(base, open_loads.pop(base), single, first, gone)
        read.update(inst.reads())
        if _is_plain(inst) and inst.dst in single and inst.dst not in read:
            open_loads.setdefault(inst.a, []).append(((inst.imm ^ 0x80000000) - 0x80000000, inst))
        for register in inst.writes():
            if register in open_loads:
                _close(register, open_loads.pop(register), single, first, gone)
    for base, loads in open_loads.items():
        _close(base, loads, single, first, gone)
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
    base: int | None, loads: list[tuple[int, Inst]], single: dict[int, Inst], first: dict[int, Inst], gone: set[int]
) -> None:
    """Groups of four, then of two, among loads from one base."""
    aligned = alignment(base, single)
    order = {id(inst): index for index, (_, inst) in enumerate(loads)}
    by_offset = dict(reversed(loads))  # of two that load the same, the first
    for count in (4, 2):
        size = count * _WORD
        if aligned < size:
            continue
        for offset in sorted(by_offset):
            group = [by_offset.get(offset + _WORD * k) for k in range(count)]
            if offset % size or None in group or len({inst.mods for inst in group}) > 1:
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


def alignment(register: int | None, single: dict[int, Inst], depth: int = _DEEPEST) -> int:
    """A power of two, up to 16, that divides a register's value."""
    if register is None:
        return _MOST_ALIGNED
    inst = single.get(register)
    if inst is None or inst.guard is not None or inst.symbol or depth == 0:
        return 1
    rule = _ALIGNMENT.get(inst.op.number)
    return min(rule(inst, lambda slot: _of_source(inst, slot, single, depth - 1)), _MOST_ALIGNED) if rule else 1


def _of_source(inst: Inst, slot: str, single: dict[int, Inst], depth: int) -> int:
    if inst.slot == slot:
        return 1 if inst.const else _of_number(inst.imm)
    return alignment(getattr(inst, slot), single, depth)


def _of_number(value: int) -> int:
    return min(value & -value, _MOST_ALIGNED) if value else _MOST_ALIGNED


_SUM = lambda inst, of: min(of("a"), of("b"))  # noqa: E731
# By zero bits at the end: a sum has the fewer of its operands', an AND the more, a product both together.
_ALIGNMENT = by_number({
    "MOV": lambda inst, of: of("a"),
    "IADD": _SUM, "ISUB": _SUM, "OR": _SUM,
    "IADD3": lambda inst, of: min(of("a"), of("b"), of("c")),
    "AND": lambda inst, of: max(of("a"), of("b")),
    "IMUL": lambda inst, of: of("a") * of("b"),
    "IMAD": lambda inst, of: min(of("a") * of("b"), of("c")),
    "SHL": lambda inst, of: of("a") << min(inst.imm, 4) if inst.slot == "b" and not inst.const else 1,
    "LEA": lambda inst, of: min(of("a") << min(FIELDS["by"].get(inst.mods), 4), of("b")),
})  # fmt: skip
