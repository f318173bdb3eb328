"""Loops whose number of turns is known are written out turn by turn, without counter, tests and jumps, as the real
assembler does.

The copies are straight code, so what one turn carries to the next needs no fixed place: every turn has registers of
its own, and only the last writes those that are read after the loop. The counter is a constant in each turn. What a
turn adds a number to is added to from its value before the loop, so that no turn waits for the one before it. What is
the same in all turns is computed in the first.

ptxas 13.0 (sm_80) weighs what goes against what stays (tests/ptxas/whole_loops.csv): the longer a turn, the fewer turns
it writes out, and a load from shared memory, whose address becomes an offset, is worth several instructions.
"""

from copy import copy

from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import READ_SLOTS, WRITE_SLOTS, Block, Body, Inst, groups_of, whole_groups
from gpuprof.assemble.ir.defs import remove_dead
from gpuprof.assemble.ir.liveness import block_liveness
from gpuprof.assemble.ir.memory_order import is_fence, reads_clock
from gpuprof.assemble.optimize.addresses import share_addresses
from gpuprof.assemble.optimize.fold import constant_move, constant_of, fold_literals, propagate_copies, simplify
from gpuprof.assemble.optimize.loops import Loop, counted_loops, every_turn, increment_of
from gpuprof.isa.kinds import BETWEEN_LANES, BLOCK_BARRIERS, kinds_of

# Bounds of ptxas 13.0 for sm_80, fitted to the answers in tests/ptxas/whole_loops.csv. With u slots in a turn that
# stay and s that go, it writes out n turns up to n * u * u = 7700 * s, and always up to n * u = 328.
_WORTH = 7700
_ALWAYS = 328
_COUNTING = 3  # slots: the counter, its test and the jump
_SHARED_LOAD = 6  # slots that a load from shared memory counts for
_MOST_SLOTS = 8192  # of all copies together; ptxas unrolls up to at least this
_FARTHEST = 16  # blocks looked through for the number that a counter starts from
_SLOW = ("iterative", "iterative64")  # expansions with a subroutine, whose loops ptxas keeps
_NOT_COPIED = BETWEEN_LANES | kinds_of("fence", "warp_sync", "sleep", "stack_save", "stack_change", "syscall")
_COMPARES = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "ne": lambda a, b: a != b,
}  # fmt: skip


def unroll_whole(body: Body) -> None:
    """Innermost loops first: what they become may be the turn of a loop around them."""
    while not body.keeps_loops and _unroll_innermost(body):
        cfg.connect(body)
        cfg.join(body)
        for change in (propagate_copies, fold_literals, simplify, share_addresses, remove_dead):
            change(body)


def _unroll_innermost(body: Body) -> bool:
    """Unrolls the innermost of these loops. False if there are none."""
    loops = [(loop, start) for loop in counted_loops(body) if (start := _start(body, loop)) is not None]
    loops = [(loop, start, turns) for loop, start in loops if (turns := _turns(body, loop, start))]
    if not loops:
        return False
    liveness = block_liveness(body)
    result: list[Block] = []
    done = 0
    for loop, start, turns in loops:
        between, after = (set(liveness.members(liveness.live_in[index])) for index in (loop.first, loop.last + 1))
        result += body.blocks[done : loop.first]
        if loop.test.dst in after:
            result += body.blocks[loop.first : loop.last + 1]
            body.rolled.add(body.blocks[loop.first].label)
        else:
            result += _Copies(body, loop, start, turns, between, after).blocks()
        done = loop.last + 1
    body.blocks = result + body.blocks[done:]
    return True


# -- which loops -----------------------------------------------------------------------------------


def _start(body: Body, loop: Loop) -> int | None:
    """The number in the counter when the loop begins, if it is one."""
    index = loop.first
    for _ in range(_FARTHEST):
        outside = [before for before in body.blocks[index].predecessors if not loop.first <= before <= loop.last]
        if len(outside) != 1 or (index != loop.first and len(body.blocks[index].predecessors) != 1):
            return None
        index = outside[0]
        for inst in reversed(body.blocks[index].insts):
            if loop.counter in inst.writes():
                constant = constant_of(inst)
                return _as_number(constant.value, loop) if constant and not constant.is_param else None
    return None


def _as_number(bits: int, loop: Loop) -> int:
    nbits = 64 if loop.kind.endswith("64") else 32
    bits &= (1 << nbits) - 1
    return bits - (1 << nbits) if loop.kind.startswith("S") and bits >> nbits - 1 else bits


def _turns(body: Body, loop: Loop, start: int) -> int:
    """How many turns it has, if all of them are to be written out; else 0."""
    if loop.number is None:
        return 0
    most = _most_turns(body.blocks[loop.first : loop.last + 1])
    bound = _as_number(loop.number, loop)
    counter = start
    for turns in range(1, most + 1):
        counter = _as_number(counter + loop.step, loop)
        if not _COMPARES[loop.compares](counter, bound):
            return turns
    return 0


def _most_turns(blocks: list[Block]) -> int:
    n_loads, stays, goes = 0, 1 - _COUNTING, _COUNTING
    for block in blocks:
        for inst in block.insts:
            if not _can_copy(inst):
                return 0
            if inst.op.kind == "load" and inst.op.space == "shared":
                n_loads += 1
            else:
                stays += inst.op.slots
    stays, goes = max(stays, 1), goes + _SHARED_LOAD * n_loads
    return min(max(_WORTH * goes // stays**2, _ALWAYS // stays), _MOST_SLOTS // (stays + n_loads))


def _can_copy(inst: Inst) -> bool:
    op = inst.op
    if op.kind == "branch" or op.kind in BLOCK_BARRIERS:
        return True
    return op.pipe != "cbu" and op.kind not in _NOT_COPIED and op.latency not in _SLOW and not inst.defs


# -- copies ----------------------------------------------------------------------------------------


class _Copies:
    """The turns of a loop. `between` and `after`: registers that hold something between the turns, and after them."""

    def __init__(self, body: Body, loop: Loop, start: int, turns: int, between: set[int], after: set[int]):
        self.body, self.loop, self.start, self.turns = body, loop, start, turns
        self.region = body.blocks[loop.first : loop.last + 1]
        body.copied.update(inst.line for block in self.region for inst in block.insts)
        self.branch = self.region[-1].insts[-1]
        self.label = self.region[0].label
        always = every_turn(self.region)
        writers: dict[int, list[Inst]] = {}
        grouped: set[int] = set()
        for block in self.region:
            for inst in block.insts:
                for register in inst.writes():
                    writers.setdefault(register, []).append(inst)
                grouped.update(*groups_of(inst))
        # Registers that nothing carries from turn to turn.
        insts = [inst for block in self.region for inst in block.insts]
        self.own = whole_groups(writers.keys() - between - after - body.fixed.keys(), insts)
        self.same = self._same(always, writers)
        ids = {id(inst) for inst in always}
        # Of these each write has a register of its own, which the reads after it read.
        renamed = {
            register
            for register, makers in writers.items()
            if register not in self.same and register not in grouped and register not in body.fixed
            and all(id(inst) in ids and inst.guard is None for inst in makers)
        }  # fmt: skip
        self.own -= self.same | renamed
        self.n_writes = {register: len(writers[register]) for register in renamed}
        self.wanted = after
        self.steps = {
            register: step
            for register in renamed
            if (step := increment_of(register, writers[register], always)) is not None
            and (body.files[register] == "R" or abs(step) * turns < 1 << 31)
        }
        # Where the values are now: in registers of this turn, and in what the turns before left.
        self.names: dict[int, int] = {}

    def _same(self, always: list[Inst], writers: dict[int, list[Inst]]) -> set[int]:
        """Registers that hold the same in all turns, computed by instructions without effect."""
        same: set[int] = set()
        for inst in always:
            if (
                inst.op.kind in ("compute", "special") and not is_fence(inst) and not reads_clock(inst)
                and inst.guard is None and inst.dst.__class__ is int and inst.writes() == (inst.dst,)
                and inst.dst in self.own and len(writers[inst.dst]) == 1
                and all(register in same or register not in writers for register in inst.reads())
            ):  # fmt: skip
                same.add(inst.dst)
        return same

    def blocks(self) -> list[Block]:
        result = [Block(self.label)]
        if self.loop.counter in self.steps:
            self.names[self.loop.counter] = self._like(self.loop.counter)
            self._set_counter(0, result[0].insts)
        for turn in range(self.turns):
            prefix = f"{self.label}~{turn}"
            is_last = turn == self.turns - 1
            if not is_last:
                self.names.update({register: self._like(register) for register in sorted(self.own)})
            else:
                for register in self.own:
                    self.names.pop(register, None)
            left = dict(self.n_writes)  # writes to come in this turn
            for index, block in enumerate(self.region):
                if index:
                    result.append(Block(prefix + block.label if block.label else ""))
                for inst in block.insts:
                    self._copy(inst, turn, is_last, left, prefix, result[-1].insts)
        return result

    def _like(self, register: int) -> int:
        return self.body.register(self.body.files[register])

    def _copy(self, inst: Inst, turn: int, is_last: bool, left: dict[int, int], prefix: str, insts: list[Inst]) -> None:
        if inst is self.loop.test or inst is self.branch:
            return
        if turn and inst.dst.__class__ is int and inst.dst in self.same:
            return
        if inst.dst.__class__ is int and inst.dst in self.steps:
            self._count(inst, turn, is_last, insts)
            return
        new = copy(inst)
        new.guard = self.names.get(inst.guard, inst.guard)
        for slot in READ_SLOTS[inst.op.number]:
            setattr(new, slot, self._name(getattr(inst, slot)))
        for register in inst.writes():
            if register in left:
                left[register] -= 1
                if is_last and not left[register] and register in self.wanted:
                    self.names.pop(register, None)
                else:
                    self.names[register] = self._like(register)
        for slot in WRITE_SLOTS[inst.op.number]:
            setattr(new, slot, self._name(getattr(inst, slot)))
        if new.op.kind == "branch":
            new.target = prefix + new.target
        insts.append(new)

    def _name(self, operand):
        if operand.__class__ is tuple:
            return tuple(self.names.get(register, register) for register in operand)
        return self.names.get(operand, operand)

    def _count(self, inst: Inst, turn: int, is_last: bool, insts: list[Inst]) -> None:
        """A register that each turn adds a number to, after this turn's addition."""
        register = inst.dst
        if is_last and register in self.wanted:
            self.names.pop(register, None)
        else:
            self.names[register] = self._like(register)
        if register == self.loop.counter:
            self._set_counter(turn + 1, insts)
            return
        new = copy(inst)
        new.dst = self._name(register)
        new.imm = self.steps[register] * (turn + 1) & 0xFFFFFFFF
        insts.append(new)

    def _set_counter(self, turn: int, insts: list[Inst]) -> None:
        """The counter before a turn, or, after the last, what is left in it."""
        counter = self.loop.counter
        value = self.start + self.loop.step * turn
        insts.append(constant_move(self._name(counter), self.body.files[counter], value, self.branch))
