"""Loops whose number of turns is not known are done four turns at a time, as the real assembler does: where it does is
in `loops`.

A loop that continues while i < n and adds s to i in each turn becomes, as ptxas 13.0 writes it for sm_80,

    first = true                                 the loop's test comes last: one turn there is always
    if (i + 3s < n) {
        first = false
        do four turns while (i + 3s < n)
    }
    if (i + s < n) { two turns; first = false }
    if (first or i < n) one turn

Compilers start an unsigned counter at tid - 128 if its first use is after the addition: it may be beyond n until the
first turn has brought it around to the least numbers. So where numbers are unsigned one turn comes first, with the
loop's own test after it, as ptxas has it; `first` is false from there on. A loop that continues while i != n has the
loop as it was in place of the last turn. What counts up or down by a constant is added to once for all copies: they
read it with an offset, which loads and stores take as it is, so that none of them waits for another.
The sums on the left are not done: n - 3s is, held back from passing the least number. A counter that itself passes the
ends of the numbers before it has reached n would make a loop of almost 2**32 turns: that one ends here, as it does with
ptxas.
"""

from collections.abc import Iterable
from copy import copy

from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import READ_SLOTS, WRITE_SLOTS, Block, Body, Inst, groups_of, whole_groups
from gpuprof.assemble.ir.liveness import block_liveness
from gpuprof.assemble.optimize.loops import LONGEST_REST, NUMBERS, Loop, every_turn, find_loops, increment_of
from gpuprof.assemble.optimize.predicate import convert_branches
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.row import Opcode

_AT_ONCE = 4
_REST = 2
_BOOL_OR = FIELDS["bool"].put(FIELDS["bool"].value("or"))
_BRANCH, _PMOV, _MOVI64 = (BY_NAME[name] for name in ("BRA", "PMOV", "MOVI.64"))
_SUM = {"R": BY_NAME["IADD"], "D": BY_NAME["IADD.64"]}
_MOVE = {"R": BY_NAME["MOV"], "D": BY_NAME["MOV.64"]}


def unroll_loops(body: Body) -> None:
    loops = [] if body.keeps_loops else find_loops(body)
    if not loops:
        return
    liveness = block_liveness(body)
    result: list[Block] = []
    longest: dict[str, int] = {}
    done = 0
    for loop in loops:
        between, after = (set(liveness.members(liveness.live_in[index])) for index in (loop.first, loop.last + 1))
        # The copies have tests of their own, so the loop's own result would not be there.
        if loop.test.dst in between | after:
            continue
        result += body.blocks[done : loop.first]
        unrolled = _Unrolled(body, loop, between, after)
        result += unrolled.blocks()
        longest |= dict.fromkeys(unrolled.behind_rests(), LONGEST_REST.get(unrolled.n_pointers(), 0))
        done = loop.last + 1
    body.blocks = result + body.blocks[done:]
    cfg.connect(body)
    # The two turns and the last one are short bodies now, which ptxas guards rather than jumps over.
    convert_branches(body, longest)


class _Unrolled:
    """`between` and `after`: registers that hold something between the turns, and after them."""

    def __init__(self, body: Body, loop: Loop, between: set[int], after: set[int]):
        self.body, self.loop, self.after = body, loop, after
        self.region = body.blocks[loop.first : loop.last + 1]
        body.copied.update(inst.line for block in self.region for inst in block.insts)
        self.branch = self.region[-1].insts[-1]
        self.label = self.region[0].label
        writers: dict[int, list[Inst]] = {}
        in_groups: set[int] = set()
        for inst in self._insts():
            for register in inst.writes():
                writers.setdefault(register, []).append(inst)
            in_groups.update(*groups_of(inst))
        always = every_turn(self.region)
        self.steps = {  # register -> what a turn adds to it
            register: step
            for register, writes in writers.items()
            if register not in in_groups
            and register not in body.fixed
            and (step := increment_of(register, writes, always)) is not None
        }
        # Registers of which each copy has its own.
        self.own = whole_groups(set(writers) - between - after - body.fixed.keys(), self._insts())
        self.kept = {
            inst.dst for inst in always if _is_constant(inst) and inst.dst in self.own and len(writers[inst.dst]) == 1
        }

    def _insts(self) -> Iterable[Inst]:
        for block in self.region:
            yield from block.insts

    def blocks(self) -> list[Block]:
        loop, label = self.loop, self.label
        first = self.body.register("P")
        rest = f"{label}~rest"
        last, end = self.behind_rests()
        result = self._before(first, end)
        # Tested in front and again at the end, so that a turn of four has one jump.
        again = copy(self._enough(_AT_ONCE, result[-1].insts, rest))
        again.dst = self.body.register("P")
        result.append(Block("", [self._inst(_PMOV, dst=first, negated="a")]))
        main = self._copies(_AT_ONCE, f"{label}~main")
        main[-1].insts += [again, self._inst(_BRANCH, guard=again.dst, target=f"{label}~main")]
        result += main
        result.append(Block(rest))
        self._enough(_REST, result[-1].insts, last)
        result += self._copies(_REST, f"{label}~two")
        result[-1].insts.append(self._inst(_PMOV, dst=first, negated="a"))
        result.append(Block(last))
        more = copy(self.loop.test)
        more.dst, more.e, more.mods = self.body.register("P"), first, more.mods | _BOOL_OR
        result[-1].insts += [more, self._inst(_BRANCH, guard=more.dst, negated="g", target=end)]
        result += self._copies(1, f"{label}~one") if loop.compares != "ne" else self._as_it_was()
        return [*result, Block(end)]

    def _before(self, first: int, end: str) -> list[Block]:
        """The blocks up to the first test of four turns."""
        if not self.loop.may_begin_below:
            return [Block(self.label, [self._inst(_PMOV, dst=first)])]
        result = self._copies(1, self.label, counts=True)
        more = copy(self.loop.test)
        more.dst = self.body.register("P")
        result[-1].insts += [more, self._inst(_BRANCH, guard=more.dst, negated="g", target=end)]
        return [*result, Block("", [self._inst(_PMOV, dst=first, negated="a")])]

    def _inst(self, op: Opcode, **slots) -> Inst:
        return Inst(op, line=self.branch.line, location=self.branch.location, **slots)

    def behind_rests(self) -> tuple[str, str]:
        """The labels after the two turns and after the last."""
        return f"{self.label}~last", f"{self.label}~end"

    def n_pointers(self) -> int:
        """64-bit registers that each turn adds to, besides the counter."""
        return sum(self.body.files[register] == "D" for register in self.steps if register != self.loop.counter)

    # tests

    def _enough(self, turns: int, insts: list[Inst], otherwise: str) -> Inst:
        """Appends a jump to `otherwise` that is taken unless `turns` turns are left. Returns the test."""
        loop = self.loop
        compares = FIELDS["cmp"].put(FIELDS["cmp"].value("lt" if loop.step > 0 else "gt"))
        start = self._start(loop.reach(turns), insts)
        test = self._inst(loop.test.op, dst=self.body.register("P"), a=loop.counter, mods=compares, **start)
        insts += [test, self._inst(_BRANCH, guard=test.dst, negated="g", target=otherwise)]
        return test

    def _start(self, reach: int, insts: list[Inst]) -> dict:
        """Operand b: the bound less `reach`, held back from passing the end of the numbers."""
        loop, file = self.loop, "D" if self.loop.kind.endswith("64") else "R"
        if loop.number is not None:
            return {"slot": "b", "imm": loop.number - reach & 0xFFFFFFFF}
        bound = getattr(loop.test, loop.bound)
        if loop.test.const:
            bound = self.body.register(file)
            insts.append(self._inst(_MOVE[file], dst=bound, slot="a", imm=loop.test.imm, const=True))
        if not reach:
            return {"b": bound}
        # The bound may be so near the end of the numbers that the difference would wrap around.
        least, most = NUMBERS[loop.kind]
        end, which = (least, "MAX") if reach > 0 else (most, "MIN")
        held, start = self.body.register(file), self.body.register(file)
        clamp = self._inst(BY_NAME[f"I{which}.{loop.kind}"], dst=held, a=bound)
        if file == "R":
            clamp.slot, clamp.imm = "b", end + reach & 0xFFFFFFFF
        else:
            clamp.b = self.body.register("D")
            insts.append(self._inst(_MOVI64, dst=clamp.b, imm=end + reach & 0xFFFFFFFFFFFFFFFF))
        insts += [clamp, self._inst(_SUM[file], dst=start, a=held, slot="b", imm=-reach & 0xFFFFFFFF)]
        return {"b": start}

    # copies

    def _as_it_was(self) -> list[Block]:
        label = f"{self.label}~rolled"
        self.body.rolled.add(label)
        self.branch.target = label
        return [Block(label, self.region[0].insts), *self.region[1:]]

    def _copies(self, count: int, label: str, counts: bool = False) -> list[Block]:
        """`count` turns, one after the other, without tests between them or after them. The last turn of all adds only
        to registers that are read after the loop, unless it `counts`.
        """
        result = [Block(label)]
        # A constant of the turn is made in the first copy, and all others read it there.
        kept = {register: self._like(register) for register in sorted(self.kept)}
        for number in range(count):
            turn = _Turn(self, number, count, kept, counts or count > 1)
            for index, block in enumerate(self.region):
                is_always = index in (0, len(self.region) - 1)
                if index:
                    result.append(Block(f"{label}~{number}{block.label}" if block.label else ""))
                turn.copy_block(block, result[-1].insts, f"{label}~{number}", is_always)
        return result

    def _like(self, register: int) -> int:
        return self.body.register(self.body.files[register])


class _Turn:
    """One copy of a turn: its names of registers, and the amount by which each counting register lags."""

    def __init__(self, unrolled: _Unrolled, number: int, count: int, kept: dict[int, int], counts: bool):
        self.unrolled, self.body = unrolled, unrolled.body
        self.number, self.count, self.counts = number, count, counts
        self.names = {
            register: self.body.register(self.body.files[register]) for register in sorted(unrolled.own - unrolled.kept)
        } | kept
        self.behind = {register: step * number for register, step in unrolled.steps.items()}

    def copy_block(self, block: Block, insts: list[Inst], prefix: str, is_always: bool) -> None:
        """`is_always`: every turn comes through this block."""
        sums: dict[int, int] = {}  # counting register -> where its value in this turn is
        for inst in block.insts:
            if inst is self.unrolled.loop.test or inst is self.unrolled.branch:
                continue
            if inst.dst.__class__ is int and inst.dst in self.unrolled.steps:
                self._count(inst, insts)
                sums.pop(inst.dst, None)
            elif not (self.number and _is_constant(inst) and inst.dst in self.unrolled.kept):
                new = self._renamed(inst, insts, sums, is_always)
                if new.op.kind == "branch":
                    new.target = prefix + new.target
                insts.append(new)

    def _count(self, inst: Inst, insts: list[Inst]) -> None:
        is_wanted = self.counts or inst.dst in self.unrolled.after
        if self.number + 1 < self.count or not is_wanted:
            # Only the last copy adds, for all of them: the others read with an offset, so none waits for another.
            self.behind[inst.dst] += self.unrolled.steps[inst.dst]
            return
        self.behind[inst.dst] = 0
        new = copy(inst)
        new.imm = self.unrolled.steps[inst.dst] * self.count & 0xFFFFFFFF
        insts.append(new)

    def _renamed(self, inst: Inst, insts: list[Inst], sums: dict[int, int], is_always: bool) -> Inst:
        new = copy(inst)
        new.guard = self.names.get(inst.guard, inst.guard)
        for slot in WRITE_SLOTS[inst.op.number]:
            setattr(new, slot, self._name(getattr(inst, slot)))
        for slot in READ_SLOTS[inst.op.number]:
            register = getattr(inst, slot)
            behind = self.behind.get(register, 0) if register.__class__ is int else 0
            if not behind:
                setattr(new, slot, self._name(register))
            elif (
                slot == "a" and inst.op.a == "A" and _takes(inst, behind, is_always or self.body.files[register] == "D")
            ):
                new.imm = inst.imm + behind & 0xFFFFFFFF
            else:
                setattr(new, slot, self._sum(register, behind, inst, insts, sums))
        return new

    def _name(self, operand):
        if operand.__class__ is tuple:
            return tuple(self.names.get(register, register) for register in operand)
        return self.names.get(operand, operand)

    def _sum(self, register: int, behind: int, inst: Inst, insts: list[Inst], sums: dict[int, int]) -> int:
        if register not in sums:
            file = self.body.files[register]
            sums[register] = self.body.register(file)
            sum_ = Inst(
                _SUM[file],
                dst=sums[register],
                a=register,
                slot="b",
                imm=behind & 0xFFFFFFFF,
                line=inst.line,
                location=inst.location,
            )
            insts.append(sum_)
        return sums[register]


def _is_constant(inst: Inst) -> bool:
    return inst.op in _MOVE.values() and inst.a is None and inst.guard is None and not inst.symbol


def _takes(inst: Inst, behind: int, is_safe: bool) -> bool:
    """True if the instruction itself can add `behind` to the address of its load or store. 32-bit sums wrap around
    where the address unit does not. But no sum between two valid addresses wraps, that of the first copy and that of
    this one.
    """
    if inst.symbol or inst.outgoing or not (is_safe and (inst.guard is None or FIELDS["addr64"].get(inst.mods))):
        return False
    total = ((inst.imm ^ 0x80000000) - 0x80000000) + behind
    return -(1 << 31) <= total < 1 << 31
