"""Loops that the real assembler unrolls: what they look like, found in the blocks.

The rule is ptxas 13.0's for sm_80, as tests/ptxas/unrolled.py asks it with one small kernel after the other
(tests/ptxas/unrolled.csv has its answers).
"""

from typing import NamedTuple

from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import use_counts
from gpuprof.assemble.ir.memory_order import is_access, is_fence, is_write
from gpuprof.isa.kinds import ATOMICS, BETWEEN_LANES
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import numbers

# ptxas 13.0's bounds for sm_80 (tests/ptxas/unrolled.csv).
MOST_SLOTS = 50  # of a turn
MOST_LOADS = 15  # of a turn, guarded instructions included
# The number of instructions in left-over turns that ptxas guards rather than jumps over, by the number of 64-bit
# pointers that each turn moves. A doubt: this was observed (tests/ptxas/unrolled.csv), and no reason is known.
LONGEST_REST = {0: 9, 2: 16}
MOST_STEP = 1 << 16  # a counter that moves by more is left as it is
NUMBERS = {
    "S32": (-(1 << 31), (1 << 31) - 1),
    "U32": (0, (1 << 32) - 1),
    "S64": (-(1 << 63), (1 << 63) - 1),
    "U64": (0, (1 << 64) - 1),
}
_COMPARES = {"lt": 1, "le": 1, "gt": -1, "ge": -1, "ne": 0}  # the way the counter must go; 0 is either
_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "ne": "ne"}
_COMPARISONS = numbers("ISETP.S32", "ISETP.U32", "ISETP.S64", "ISETP.U64")
_SUMS = numbers("IADD", "IADD.64")
_PLAIN_SPACES = ("", "global", "shared", "local", "const", "param", "generic")
_CMP, _SEM, _VOLATILE = FIELDS["cmp"], FIELDS["sem"], FIELDS["sem"].value("volatile")


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def turn_exits(body: Body) -> None:
    """`@p bra OUT; bra LOOP` at the end of a loop becomes `@!p bra LOOP`, with the opposite comparison, where ptxas
    does so; what ends like this elsewhere is no loop to it (tests/ptxas/unrolled.csv).

    It does where OUT does not follow, and in functions whose blocks it puts into another order.
    """
    readers = use_counts(body)
    blocks = body.blocks
    index_of = {block.label: index for index, block in enumerate(blocks) if block.label}
    ordered = _are_in_order(blocks)
    gone: set[int] = set()
    for index in range(len(blocks) - 2):
        out, way = (each.insts[-1] if each.insts else None for each in blocks[index : index + 2])
        behind = blocks[index + 2]
        if (
            out is not None and out.op.kind == "branch" and out.guard is not None and not out.negated
            and len(blocks[index + 1].insts) == 1 and blocks[index + 1].predecessors == [index]
            and way.op.kind == "branch" and way.guard is None and index_of[way.target] <= index
            and index_of[out.target] > index
            and not (ordered and out.target == behind.label and not _only_jumps(behind))
            and readers[out.guard] == 1 and (test := _comparison(blocks[index].insts, out.guard)) is not None
        ):  # fmt: skip
            name = _CMP.names[_CMP.get(test.mods)]
            test.mods = test.mods & ~_CMP.put((1 << _CMP.width) - 1) | _CMP.put(_CMP.value(_OPPOSITE[name]))
            out.target, way.target = way.target, out.target
            if way.target == behind.label:
                gone.add(index + 1)
    body.blocks = [block for index, block in enumerate(blocks) if index not in gone]
    cfg.connect(body)


def _only_jumps(block: Block) -> bool:
    return len(block.insts) == 1 and block.insts[0].op.kind == "branch" and block.insts[0].guard is None


def _are_in_order(blocks: list[Block]) -> bool:
    """True if the blocks are in reverse postorder, where targets of branches are visited before what follows."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(blocks[0].successors))]
    while stack:
        index, successors = stack[-1]
        successor = next((each for each in successors if each not in seen), None)
        if successor is None:
            order.append(index)
            stack.pop()
        else:
            seen.add(successor)
            stack.append((successor, iter(blocks[successor].successors)))
    return order == list(range(len(blocks)))[::-1]


def _comparison(insts: list[Inst], predicate: int) -> Inst | None:
    """The comparison of integers that makes a predicate by itself, as the last to write it in a block."""
    test = next((inst for inst in reversed(insts) if predicate in inst.writes()), None)
    plain = test is not None and test.op.number in _COMPARISONS and test.guard is None and test.dst == predicate
    return test if plain and test.c is None and test.e is None and not FIELDS["bool"].get(test.mods) else None


class Loop(NamedTuple):
    """Blocks `first` to `last`. Each turn adds `step` to `counter`; the next follows while it `compares` ("lt" and so
    on) with the bound.

    `reach(turns)` is the distance before the bound at which that many turns may still begin: `lt` the bound less this.
    """

    first: int
    last: int
    counter: int
    step: int
    test: Inst  # the ISETP at the end; one source is the counter
    bound: str  # the source that is not
    number: int | None  # what the bound is if it is a number
    compares: str

    @property
    def kind(self) -> str:
        return self.test.op.types[0].upper()

    @property
    def may_begin_below(self) -> bool:
        """True if the first turn may bring the counter from the greatest numbers around to the least, or the other
        way.
        """
        return self.kind.startswith("U") and self.compares != "ne"

    def reach(self, turns: int) -> int:
        strict = 0 if self.compares in ("le", "ge") else 1  # i <= n is i < n + 1
        return (abs(self.step) * (turns - 1) - 1 + strict) * (1 if self.step > 0 else -1)


def find_loops(body: Body) -> list[Loop]:
    """The loops to unroll in part, in the order of the blocks; no two have a block in common. The caller looks whether
    the result of the test is read after the loop.
    """
    return [
        loop
        for loop in counted_loops(body)
        if not _is_near_an_end(loop) and _is_worth_it(body.blocks[loop.first : loop.last + 1], loop)
    ]


def counted_loops(body: Body) -> list[Loop]:
    """The innermost loops that count towards a bound, in the order of the blocks; no two have a block in common."""
    loops = []
    index_of = {block.label: index for index, block in enumerate(body.blocks) if block.label}
    for last, block in enumerate(body.blocks[:-1]):
        branch = block.insts[-1] if block.insts else None
        if (
            branch is None
            or branch.op.kind != "branch"
            or branch.guard is None
            or branch.negated
            or branch.target in body.rolled
        ):
            continue
        first = index_of[branch.target]
        if first > last or not _is_closed(body.blocks, first, last):
            continue
        if loop := _counted(body, first, last, branch):
            loops.append(loop)
    return loops


def _is_closed(blocks: list[Block], first: int, last: int) -> bool:
    """True if the only way in is the first block and the only way out and back is the end of the last."""
    inside = range(first, last + 1)
    for index in inside:
        block = blocks[index]
        if index != first and any(before not in inside for before in block.predecessors):
            return False
        if index != last and any(not index < after <= last for after in block.successors):
            return False
    return sorted(blocks[last].successors) == [first, last + 1]


def _counted(body: Body, first: int, last: int, branch: Inst) -> Loop | None:
    always = every_turn(body.blocks[first : last + 1])
    writers: dict[int, list[Inst]] = {}
    for block in body.blocks[first : last + 1]:
        for inst in block.insts:
            # Copies have no test between them, so nothing else may read its result.
            if inst is not branch and branch.guard in inst.reads():
                return None
            for register in inst.writes():
                writers.setdefault(register, []).append(inst)
    tests = writers.get(branch.guard, [])
    if len(tests) != 1 or not any(inst is tests[0] for inst in body.blocks[last].insts):
        return None
    test = tests[0]
    if (
        test.op.number not in _COMPARISONS
        or test.guard is not None
        or test.dst != branch.guard
        or test.c is not None
        or test.e is not None
    ):
        return None
    if (
        test.negated
        or FIELDS["bool"].get(test.mods)
        or FIELDS["neg_a"].get(test.mods)
        or FIELDS["neg_b"].get(test.mods)
    ):
        return None
    name = _CMP.names[_CMP.get(test.mods)]
    for slot, bound, compares in (("a", "b", name), ("b", "a", _SWAPPED.get(name, ""))):
        counter = getattr(test, slot)
        if compares not in _COMPARES or counter is None or getattr(test, bound) in writers:
            continue
        step = increment_of(counter, writers.get(counter, []), always)
        before = step is not None and _place(always, writers[counter][0]) < _place(always, test)
        if before and abs(step) <= MOST_STEP and step * _COMPARES[compares] >= 0:
            return Loop(first, last, counter, step, test, bound, _number(test, bound), compares)
    return None


def every_turn(blocks: list[Block]) -> list[Inst]:
    """The instructions of a loop's blocks that every turn comes through: those of the first and the last."""
    return [inst for index in sorted({0, len(blocks) - 1}) for inst in blocks[index].insts]


def increment_of(register: int, writers: list[Inst], always: list[Inst]) -> int | None:
    """The number that one turn adds to a register, if it adds once, by `r = r + number`, in a block that every turn
    comes through; else None.
    """
    if len(writers) != 1 or not any(inst is writers[0] for inst in always):
        return None
    inst = writers[0]
    if inst.op.number not in _SUMS or inst.guard is not None or inst.dst != register or inst.a != register:
        return None
    if inst.slot != "b" or inst.const or inst.symbol or inst.mods:
        return None
    return (inst.imm ^ 0x80000000) - 0x80000000 or None


def _place(insts: list[Inst], wanted: Inst) -> int:
    return next(index for index, inst in enumerate(insts) if inst is wanted)


def _number(test: Inst, slot: str) -> int | None:
    if test.slot == slot:
        return None if test.const else test.imm if test.op.types == ("u32",) else (test.imm ^ 0x80000000) - 0x80000000
    return 0 if getattr(test, slot) is None else None


def _is_near_an_end(loop: Loop) -> bool:
    """True if the bound is a number so near an end of the numbers that a sum passes that end, or the counter itself
    does.
    """
    if loop.number is None:
        return False
    least, most = NUMBERS[loop.kind]
    start, stop = (
        loop.number - loop.reach(4),
        loop.number + (loop.reach(2) if loop.compares in ("lt", "gt") else loop.step),
    )
    return not (least <= start <= most and (loop.compares == "ne" or least <= stop <= most))


def _is_worth_it(blocks: list[Block], loop: Loop) -> bool:
    slots = loads = 0
    written = {register for block in blocks for inst in block.insts for register in inst.writes()}
    for index, block in enumerate(blocks):
        for inst in block.insts:
            if not _can_copy(inst):
                return False
            if is_access(inst) and is_write(inst):
                # As with ptxas: no store that a lane may leave out, and none that goes to one place in all turns
                # (docs/model.md).
                may_not_run = inst.guard is not None or 0 < index < len(blocks) - 1
                if may_not_run or inst.a not in written:
                    return False
            slots += inst.op.slots
            loads += inst.op.kind == "load" or (inst.guard is not None and inst.op.kind != "branch")
    return slots <= MOST_SLOTS and loads <= MOST_LOADS


def _can_copy(inst: Inst) -> bool:
    if inst.op.kind == "branch":
        return True
    # As with ptxas: no barrier, exchange between lanes, atomic, fence or call (docs/model/instructions.md, Loops).
    if inst.op.pipe == "cbu" or inst.op.space not in _PLAIN_SPACES or inst.op.kind in ATOMICS | BETWEEN_LANES:
        return False
    return not is_fence(inst) or _SEM.get(inst.mods) == _VOLATILE
