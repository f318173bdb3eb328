"""The memory instructions that may not change places."""

from collections.abc import Iterator

from gpuprof.assemble.ir.body import Inst
from gpuprof.isa.kinds import ATOMICS, KINDS, kinds_of
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.special import SPECIAL_INDEX

_CLOCKS = frozenset(
    SPECIAL_INDEX[name] for name in ("clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi")
)
_ALIASES = {
    "generic": ("generic", "global", "shared", "local"), "global": ("generic", "global"),
    "shared": ("generic", "shared"),
    "local": ("generic", "local"), "const": (), "param": (), "surface": ("surface",),
}  # fmt: skip
_WRITES = ATOMICS | kinds_of("store", "copy", "surface_store", "matrix_store")
_OF_OTHER_LANES = kinds_of("matrix_load", "matrix_store")  # a lane has what is at another's address
# Rows that may be a fence or an access, by number.
MAY_TOUCH_MEMORY = [
    KINDS[row.kind].is_fence or row.kind in ("special", "load", "store") or row.space in _ALIASES for row in TABLE
]
_NC = FIELDS["cache"].names.index("nc")


def is_fence(inst: Inst) -> bool:
    """Nothing that touches memory moves over it."""
    if KINDS[inst.op.kind].is_fence or reads_clock(inst):
        return True
    return inst.op.kind in ("load", "store") and bool(FIELDS["sem"].get(inst.mods))


def reads_clock(inst: Inst) -> bool:
    """True if an instruction reads a clock. Two readings measure the instructions between them, which must not move
    past either.
    """
    return inst.op.kind == "special" and inst.imm in _CLOCKS


def is_write(inst: Inst) -> bool:
    return inst.op.kind in _WRITES


def is_access(inst: Inst) -> bool:
    return inst.op.space in _ALIASES


def is_read_only(inst: Inst) -> bool:
    """A load that no store of the kernel can change."""
    return inst.op.space in ("const", "param") or (inst.op.kind == "load" and FIELDS["cache"].get(inst.mods) == _NC)


def conflict(first: Inst, second: Inst) -> bool:
    """True if two accesses, at least one of them a write, may touch the same bytes."""
    copies = (first.op.kind == "copy") + (second.op.kind == "copy")
    if copies:
        other = second if first.op.kind == "copy" else first
        if copies == 2 or other.op.space in ("shared", "generic"):  # it writes shared memory, wherever
            return True
        if not is_write(other):
            return False
    if second.op.space not in _ALIASES[first.op.space]:
        return False
    if not {first.op.kind, second.op.kind}.isdisjoint(_OF_OTHER_LANES):
        return True
    same_base = first.op.space == second.op.space and first.a == second.a and not first.outgoing and not second.outgoing
    if not same_base:
        return True
    start, other = ((inst.imm ^ 0x80000000) - 0x80000000 for inst in (first, second))
    return start < other + second.op.nbytes and other < start + first.op.nbytes


_GRAIN = 16  # bytes
_Place = tuple[str, object]  # a space and a base register


class Accesses:
    """Accesses by number, for what `conflict` says of each of them and a later one, without looking at each: those from
    one base register are found by the bytes that they touch.
    """

    def __init__(self):
        # By place: all of them and the writes, and both again by grains of the bytes.
        self.plain: dict[_Place, tuple[list[int], list[int], dict[int, list[tuple[int, int, int, bool]]]]] = {}
        self.others: list[tuple[int, Inst, bool]] = []
        self.known: dict[int, Inst] = {}  # plain ones

    def add(self, index: int, inst: Inst) -> None:
        stores = is_write(inst)
        if not _is_plain(inst):
            self.others.append((index, inst, stores))
            return
        self.known[index] = inst
        everything, writes, grains = self.plain.setdefault((inst.op.space, inst.a), ([], [], {}))
        everything.append(index)
        if stores:
            writes.append(index)
        start, stop = _bytes_of(inst)
        for grain in range(start // _GRAIN, (stop - 1) // _GRAIN + 1):
            grains.setdefault(grain, []).append((index, start, stop, stores))

    def conflicts(self, inst: Inst) -> Iterator[int]:
        """The accesses that may not change places with a later one, each once; a read may with a read."""
        stores = is_write(inst)
        for index, other, is_store in self.others:
            if (stores or is_store) and conflict(other, inst):
                yield index
        is_plain, own = _is_plain(inst), (inst.op.space, inst.a)
        for place, (everything, writes, grains) in self.plain.items():
            candidates = everything if stores else writes
            if not candidates:
                continue
            if is_plain and place == own:
                start, stop = _bytes_of(inst)
                yield from {
                    index
                    for grain in range(start // _GRAIN, (stop - 1) // _GRAIN + 1)
                    for index, first, last, is_store in grains.get(grain, ())
                    if (stores or is_store) and first < stop and start < last
                }
            elif is_plain:
                if inst.op.space in _ALIASES[place[0]]:
                    yield from candidates
            else:
                yield from (index for index in candidates if conflict(self.known[index], inst))


def _is_plain(inst: Inst) -> bool:
    """True if only its space and its bytes decide with which others it conflicts."""
    op = inst.op
    return op.kind != "copy" and op.kind not in _OF_OTHER_LANES and not inst.outgoing and op.nbytes > 0


def _bytes_of(inst: Inst) -> tuple[int, int]:
    start = (inst.imm ^ 0x80000000) - 0x80000000
    return start, start + inst.op.nbytes
