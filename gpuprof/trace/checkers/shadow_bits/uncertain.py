"""What is undefined in a launch, and what is told of it."""

from collections.abc import Callable

import numpy as np

from gpuprof.trace.checkers.checker import Checker, Instance, first_of
from gpuprof.trace.checkers.shadow_bits.block_bits import RunningBlocks
from gpuprof.trace.checkers.shadow_bits.memory_bits import TypedShadow
from gpuprof.trace.checkers.shadow_bits.operand_rows import Step, module_of
from gpuprof.trace.checkers.shadow_bits.propagate import NO_ORIGIN
from gpuprof.trace.checkers.shadow_bits.register_bits import Registers
from gpuprof.trace.checkers.shadow_bits.space_bits import Spaces
from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.kernel import Kernel

STACK_POINTER = 1  # a register that has its value from the start
ADDRESS, BRANCH, STORE = (f"uninitialised_{what}" for what in ("address", "branch", "store"))
VERBS = {"store": "writes", "atomic": "changes", "reduction": "changes"}
MASK = (1 << 64) - 1


class Doubts(Checker):
    """`shadow`: of global memory, which outlives a launch. `_loaded`: by the number of an instruction that has loaded
    what is undefined, where it did so first.
    """

    def __init__(self, **options):
        super().__init__(**options)
        self.shadow = TypedShadow()

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        self.shadow.look()
        self._module = module_of(kernel.code)
        entry = self._module.live_words[kernel.function.first] & ~(1 << STACK_POINTER)
        at_start = [word for word in range(entry.bit_length()) if entry >> word & 1]
        self._n_hot_rows = [0] * len(kernel.instructions)  # that an instruction reads or writes
        self._registers = Registers(self._module.layout, kernel.warps_per_block, at_start, self._tell_heat)
        self._blocks = RunningBlocks(kernel.n_blocks, kernel.threads_per_block)
        self._spaces = Spaces(kernel, self.shadow, self._slots, self._blocks.numbers)
        self._loaded: dict[int, str] = {}

    def finish(self) -> None:
        super().finish()
        del self._registers, self._spaces

    def _tell_heat(self, row: int, change: int) -> None:
        for number in self._module.users.get(row, ()):
            self._n_hot_rows[number] += change

    def _slots(self, blocks: np.ndarray) -> np.ndarray:
        slots, fresh = self._blocks.slots(blocks)
        if fresh:
            self._registers.begin(fresh, self._blocks.n_slots)
            self._spaces.begin(self._blocks.n_slots)
        return slots

    def _exit(self, event: TraceEvent) -> None:
        if event.instruction.kind == "return" and event.depth:
            return
        ended = self._blocks.exit(event.block, event.true_masks)
        self._registers.end(ended)
        self._spaces.end(ended)

    def _tell(self, kind: str, step: Step, lanes: np.ndarray, origin: np.ndarray, what: Callable) -> None:
        """Lanes, bool (n, 32), do something wrong. `what(row, lane)`: what the first of them does, its address and the
        allocation that it lies in.
        """
        pc = step.plan.instruction.pc
        for number in np.unique(origin[lanes.any(axis=1)]).tolist():
            chosen = lanes & (origin == number)[:, None]
            count, other = int(np.count_nonzero(chosen)), self._pc_of(number, step)
            if not self.is_new(kind, pc, other):
                self.more(kind, count, pc, other)
                continue
            row, lane = divmod(int(np.flatnonzero(chosen)[0]), 32)
            place = np.zeros(step.event.active.shape, np.bool_)
            place[step.row_of(row), lane] = True
            who = first_of(step.event, place)[2]
            text, address, allocation = what(row, lane)
            told = f"{self.thread_text(who)} {text}{self._where_from(number, step)}"
            self.note(kind, Instance(told, who, address, allocation), count, pc, other)

    def _pc_of(self, origin: int, step: Step) -> int:
        if origin == NO_ORIGIN or origin == step.plan.instruction.number:
            return -1
        return self.kernel.instructions[origin].pc

    def _where_from(self, origin: int, step: Step) -> str:
        if origin == NO_ORIGIN:
            return "; the value comes from a register that nothing has written (-O0 keeps variables in memory)"
        return "" if origin == step.plan.instruction.number else f"; {self._loaded[origin]}"

    def _check_guard(self, step: Step) -> None:
        """An instruction that has an effect is executed or not."""
        lanes = step.guard_undefined
        if lanes.any() and step.plan.has_effect:
            verb = "goes one way or another" if step.plan.instruction.kind == "branch" else "may do it or not"
            text = f"{verb} as an undefined value has it: {step.plan.instruction.opcode}"
            self._tell(BRANCH, step, lanes, step.origin(""), lambda row, lane: (text, -1, ""))

    def _decides(self, step: Step) -> None:
        """What it reads decides how threads go on."""
        slots = "".join(step.plan.sources)
        lanes = step.any_undefined(slots) & step.true
        if lanes.any():
            text = f"goes on as an undefined value has it: {step.plan.instruction.opcode}"
            self._tell(BRANCH, step, lanes, step.origin(slots), lambda row, lane: (text, -1, ""))
        self._defined(step)

    def _check_address(self, step: Step, slots: str) -> None:
        lanes = step.any_undefined(slots) & step.true
        if not lanes.any():
            return
        accesses = step.event.accesses

        def what(row: int, lane: int) -> tuple[str, int, str]:
            found = next((each for each in accesses if each.active[row, lane]), None)
            if found is None:
                return f"makes an address of an undefined value: {step.plan.instruction.opcode}", -1, ""
            address = int(found.addresses[row, lane])
            text = f"makes an address of {found.space} memory of an undefined value: {address & MASK:#x}"
            return text, *self._place(found.space, address)

        self._tell(ADDRESS, step, lanes, step.origin(slots), what)
        for slot in slots:
            step.define(slot, lanes)

    def _place(self, space: str, address: int) -> tuple[int, str]:
        """As a finding has it."""
        found = self.kernel.allocation_at(address) if space == "global" else None
        return (address if 0 <= address <= MASK >> 1 else -1), found.name if found else ""

    def _check_store(self, step: Step, access: Access, undefined: np.ndarray, origin: np.ndarray) -> None:
        """The host can read global memory. `undefined`: uint8 (n, 32, k), what lanes store, less what is padding: that
        says nothing to the host.
        """
        if access.space != "global":
            return
        lanes = (undefined != 0).any(axis=2) & access.active
        if not lanes.any():
            return

        def what(row: int, lane: int) -> tuple[str, int, str]:
            address = int(access.addresses[row, lane])
            nbytes, n_undefined = undefined.shape[2], int(np.count_nonzero(undefined[row, lane]))
            which = "undefined" if n_undefined == nbytes else f"of which {n_undefined} have undefined bits"
            verb = VERBS.get(access.operation, "writes")
            text = f"{verb} {nbytes} bytes of global memory at {address & MASK:#x}, {which}"
            return text, *self._place("global", address)

        self._tell(STORE, step, lanes, origin, what)
