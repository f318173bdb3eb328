"""One thread: its registers, where it is, and what one instruction does to it. It stops in front of an instruction that
waits for other threads.
"""

from gpuprof.isa.special import SPECIAL
from tests.one_thread.accesses import EFFECTS
from tests.one_thread.decoded import Decoded, Place
from tests.one_thread.events import Access, Event
from tests.one_thread.lanes import TOGETHER, shuffle_operands
from tests.one_thread.memory import LOCAL_NBYTES
from tests.one_thread.values import computed
from tests.references.shuffles import shuffled

RZ, PT = 255, 127
NBITS = {"R": 32, "D": 64, "P": 1}
BARRIERS = ("barrier", "barrier_arrive", "barrier_vote")
WITHOUT_EFFECT = ("hint", "meet", "fence", "sleep", "copy_commit", "copy_wait")
MOST_STEPS = 100_000


class Thread:
    """`special`: special register -> value, of those that stay. `waiting`: the operands of the instruction in front of
    which it waits, or None. `held_at`: a row in front of which it stops; -1 for none.
    """

    def __init__(self, launched, shared: bytearray, special: dict[str, int], lane: int):
        self.launched = launched
        self.code: list[Decoded] = launched.code
        self.own = {"shared": shared, "local": bytearray(LOCAL_NBYTES)}
        self.special, self.lane = special, lane
        self.registers = {"R": [0] * 256, "D": [0] * 256, "P": [0] * 127 + [1]}
        self.row = launched.first
        self.calls: list[tuple[int, int, int]] = []  # where to return to, the caller's base and top
        self.base = 0  # of the function's frame in local memory
        self.top = 0  # behind what was taken above the frame
        self.has_exited = False
        self.waiting: list[int] | None = None
        self.events: list[Event] = []
        self.held_at = -1

    @property
    def inst(self) -> Decoded:
        return self.code[self.row]

    def run(self) -> None:
        """Until it exits, waits or is held."""
        while not self.has_exited and self.waiting is None and self.row != self.held_at:
            assert len(self.events) < MOST_STEPS, f"row {self.row}: no end in sight"
            self.step()

    def step(self) -> None:
        inst = self.inst
        guard = inst.inst.guard
        if self.registers["P"][guard & 0x7F] == guard >> 7:
            self.events.append(Event(self.row, False, len(self.calls), self.row + 1))
            self.row += 1
            return
        operands = [value for place in inst.sources for value in self.read(place)]
        if inst.op.semantics in TOGETHER or inst.op.kind in BARRIERS:
            self.waiting = operands
        else:
            self.carry_out(inst, operands)

    def read(self, place: Place) -> list[int]:
        if not place.file:
            return [place.literal]
        if place.file == "P":
            return [self.registers["P"][place.index] ^ place.negated]
        if place.index == RZ:
            return [0] * place.count
        return self.registers[place.file][place.index : place.index + place.count]

    def complete(self, results: tuple[int, ...]) -> None:
        """Others have come, and these are the results of what it waited for."""
        operands, self.waiting = self.waiting, None
        self.finish(self.inst, operands, results, (), self.row + 1)

    def finish(
        self, inst: Decoded, operands: list[int], results: tuple[int, ...], accesses: tuple[Access, ...], next_row: int
    ) -> None:
        depth = len(self.calls)
        written = self.write(inst.targets, results)
        self.events.append(Event(self.row, True, depth, next_row, tuple(operands), written, accesses))
        self.row = next_row

    def write(self, targets: tuple[Place, ...], results: tuple[int, ...]) -> tuple[int, ...]:
        """Those that go to registers."""
        left, written = results, ()
        for _, file, index, count, *_ in targets:
            values, left = left[:count], left[count:]
            assert all(value >> NBITS[file] == 0 for value in values), (file, values)
            if index != (PT if file == "P" else RZ):
                self.registers[file][index : index + count] = values
                written += values
        assert not left
        return written

    def carry_out(self, inst: Decoded, operands: list[int]) -> None:
        kind = inst.op.kind
        if kind in EFFECTS:
            results, accesses = EFFECTS[kind](inst, operands, self.launched.memory, self.own)
            self.finish(inst, operands, results, accesses, self.row + 1)
        elif kind in WITHOUT_EFFECT:
            self.finish(inst, operands, (), (), self.row + 1)
        elif kind in GOES:
            depth, row = len(self.calls), self.row
            next_row = GOES[kind](self, inst, operands)
            self.events.append(Event(row, True, depth, next_row, tuple(operands)))
            self.row = next_row
        else:
            self.finish(inst, operands, self.results(inst, operands), (), self.row + 1)

    def results(self, inst: Decoded, operands: list[int]) -> tuple[int, ...]:
        if inst.op.semantics == "special":
            name = SPECIAL[inst.inst.imm]
            return (self.base if name == "localbase" else self.special[name],)
        if inst.op.semantics == "shuffle_valid":
            return (self.is_in_range(inst, operands),)
        if inst.op.semantics in STACK:
            return STACK[inst.op.semantics](self, inst, operands)
        return computed(inst, operands)

    def is_in_range(self, inst: Decoded, operands: list[int]) -> int:
        """The predicate of a shuffle: whether there is a lane to read. It needs none of the others."""
        return int(shuffled(inst.mods["shfl"], self.lane, *shuffle_operands(inst, operands))[1])

    # The stack: mods of these instructions, and of calls, are the bytes of the function's frame.

    def stack_top(self, inst: Decoded) -> int:
        return max(self.top, self.base + inst.inst.mods)

    def take_stack(self, inst: Decoded, operands: list[int]) -> tuple[int, ...]:
        """The stack grows by a multiple of 16 bytes, from an address of the alignment in imm on."""
        align = inst.inst.imm
        address = -(-self.stack_top(inst) // align) * align
        self.top = address + -(-operands[0] // 16) * 16
        return (address,)

    def set_stack_back(self, inst: Decoded, operands: list[int]) -> tuple[int, ...]:
        self.top = operands[0]
        return ()

    # Where it goes: each gives the row of the next instruction.

    def branch(self, inst: Decoded, operands: list[int]) -> int:
        return self.row + 1 + inst.inst.offset // 16

    def branch_indirect(self, inst: Decoded, operands: list[int]) -> int:
        return self.launched.row_at(operands[0])

    def call(self, inst: Decoded, operands: list[int]) -> int:
        target = self.branch_indirect(inst, operands) if operands else self.branch(inst, operands)
        self.calls.append((self.row + 1, self.base, self.top))
        self.base = self.top = self.stack_top(inst)
        return target

    def leave(self, inst: Decoded, operands: list[int]) -> int:
        """A kernel that returns ends its thread."""
        if not self.calls:
            return self.exit(inst, operands)
        row, self.base, self.top = self.calls.pop()
        return row

    def exit(self, inst: Decoded, operands: list[int]) -> int:
        self.has_exited = True
        return -1


STACK = {
    "alloca": Thread.take_stack,
    "stack_save": lambda thread, inst, operands: (thread.stack_top(inst),),
    "stack_restore": Thread.set_stack_back,
}
GOES = {
    "branch": Thread.branch,
    "branch_indirect": Thread.branch_indirect,
    "call": Thread.call,
    "call_indirect": Thread.call,
    "return": Thread.leave,
    "exit": Thread.exit,
}
