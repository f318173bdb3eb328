"""Loads from shared memory of neighbouring words become one, where the address is known to be aligned: as the real
assembler does.
"""

from bisect import bisect

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
            _Joined(block, single, bits).join()


class _Joined:
    """The loads of a block. A wide load reads all words where the first narrow one was, so no write to any of them
    may lie between.
    """

    def __init__(self, block: Block, single: dict[int, Inst], bits: KnownBits):
        self.block, self.single, self.bits = block, single, bits
        # by base register: (place, load), since the last write that may touch one of them
        self.open: dict[int | None, list[tuple[int, Inst]]] = {}
        self.writes: list[int] = []  # their places
        self.first: dict[int, Inst] = {}  # place of a load that comes first in its group -> what takes its place
        self.gone: set[int] = set()  # places

    def join(self) -> None:
        insts = self.block.insts
        read: set[int] = set()  # registers read so far: a load of one cannot move up past that
        for index, inst in enumerate(insts):
            if is_fence(inst):
                self._close(list(self.open))
            elif is_access(inst) and is_write(inst):
                self._close([b for b, loads in self.open.items() if any(conflict(load, inst) for _, load in loads)])
                self.writes.append(index)
            read.update(inst.reads())
            if _is_plain(inst) and inst.dst in self.single and inst.dst not in read:
                self.open.setdefault(inst.a, []).append((index, inst))
            self._close([register for register in inst.writes() if register in self.open])
        self._close(list(self.open))
        if self.gone:
            self.block.insts = [self.first.get(n, inst) for n, inst in enumerate(insts) if n not in self.gone]

    def _close(self, bases: list[int | None]) -> None:
        """Groups of four, then of two, among loads from one base."""
        for base in bases:
            known = self.bits.of(base)
            # of two that load the same, the first
            by_offset = {_offset(load): (index, load) for index, load in reversed(self.open.pop(base))}
            for count in (4, 2):
                size = count * _WORD
                if 1 << known.n_low_known < size:
                    continue
                for offset in sorted(by_offset):
                    group = [by_offset.get(offset + _WORD * k) for k in range(count)]
                    if (known.ones + offset) % size or None in group or not self._may_join(group):
                        continue
                    self._replace(group)
                    for k in range(count):
                        del by_offset[offset + _WORD * k]

    def _may_join(self, group: list[tuple[int, Inst]]) -> bool:
        if len({load.mods for _, load in group}) > 1:
            return False
        lead = bisect(self.writes, min(index for index, _ in group))
        return not any(
            conflict(load, self.block.insts[write])
            for index, load in group
            for write in self.writes[lead : bisect(self.writes, index)]
        )

    def _replace(self, group: list[tuple[int, Inst]]) -> None:
        loads = [load for _, load in group]
        place, lead = min(group, key=lambda each: each[0])
        wide = Inst(
            _WIDE[len(group)], dst=tuple(load.dst for load in loads), a=lead.a, imm=loads[0].imm, mods=lead.mods
        )
        wide.line, wide.location = lead.line, lead.location
        self.first[place] = wide
        self.gone.update(other for other, _ in group if other != place)


def _offset(load: Inst) -> int:
    return (load.imm ^ 0x80000000) - 0x80000000


def _is_plain(inst: Inst) -> bool:
    return (
        inst.op is _NARROW
        and inst.guard is None
        and not inst.symbol
        and not inst.outgoing
        and not FIELDS["sem"].get(inst.mods)
    )
