"""Undefined values of a launch, and their reports."""

from collections.abc import Callable

import numpy as np

from gpuprof.trace.checkers.checker import Checker, Instance, first_of
from gpuprof.trace.checkers.shadow_bits.block_bits import RunningBlocks
from gpuprof.trace.checkers.shadow_bits.memory_bits import TypedShadow
from gpuprof.trace.checkers.shadow_bits.operand_rows import Step, module_of
from gpuprof.trace.checkers.shadow_bits.propagate import NO_ORIGIN
from gpuprof.trace.checkers.shadow_bits.register_bits import Registers
from gpuprof.trace.checkers.shadow_bits.space_bits import Spaces
from gpuprof.trace.event import Access, TraceEvent, unpacked
from gpuprof.trace.kernel import Kernel

STACK_POINTER = 1  # a register with an initial value
ADDRESS, BRANCH, STORE = (f"uninitialised_{what}" for what in ("address", "branch", "store"))
VERBS = {"store": "writes", "atomic": "changes", "reduction": "changes"}
MASK = (1 << 64) - 1


class Doubts(Checker):
    """`shadow`: of global memory, which outlives a launch. `_loaded`: by the number of an instruction that has loaded
    undefined bits, the location of the first ones.
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
        self._n_hot_rows = [0] * len(kernel.instructions)  # rows that it reads or writes with undefined bits
        self._registers = Registers(self._module.layout, kernel.warps_per_block, at_start, self._count_hot_rows)
        self._blocks = RunningBlocks(kernel.n_blocks, kernel.threads_per_block, self._begin)
        self._slots = self._blocks.slots
        self._spaces = Spaces(kernel, self.shadow, self._slots, self._blocks.numbers)
        self._loaded: dict[int, str] = {}

    def finish(self) -> None:
        super().finish()
        del self._registers, self._spaces, self._blocks, self._slots

    def _count_hot_rows(self, row: int, change: int) -> None:
        for number in self._module.users.get(row, ()):
            self._n_hot_rows[number] += change

    def _begin(self, slots: list[int]) -> None:
        """Blocks begin in these slots."""
        self._registers.begin(slots, self._blocks.n_slots)
        self._spaces.begin(self._blocks.n_slots)

    def _exit(self, event: TraceEvent) -> None:
        if event.instruction.kind == "return" and event.depth:
            return
        ended = self._blocks.exit(event.block, event.true_masks)
        self._registers.end(ended)
        self._spaces.end(ended)

    def _report(self, kind: str, step: Step, lanes: np.ndarray, origin: np.ndarray, what: Callable) -> None:
        """Reports an error of lanes, bool (n, 32). `what(row, lane)`: the text for the first of them, its address and
        the allocation that contains it.
        """
        pc = step.plan.instruction.pc
        numbers = np.unique(origin[lanes.any(axis=1)]).tolist()
        for number in numbers:
            chosen = lanes if len(numbers) == 1 else lanes & (origin == number)[:, None]
            count, other = int(np.count_nonzero(chosen)), self._pc_of(number, step)
            if not self.is_new(kind, pc, other):
                self.more(kind, count, pc, other)
                continue
            row, lane = divmod(int(np.flatnonzero(chosen)[0]), 32)
            in_event = np.zeros(step.event.active.shape, np.bool_)
            in_event[step.row_of(row), lane] = True
            who = first_of(step.event, in_event)[2]
            text, address, allocation = what(row, lane)
            sentence = f"{self.thread_text(who)} {text}{self._where_from(number, step)}"
            self.note(kind, Instance(sentence, who, address, allocation), count, pc, other)

    def _pc_of(self, origin: int, step: Step) -> int:
        if origin == NO_ORIGIN or origin == step.plan.instruction.number:
            return -1
        return self.kernel.instructions[origin].pc

    def _where_from(self, origin: int, step: Step) -> str:
        if origin == NO_ORIGIN:
            return "; the value comes from a register that was never written (-O0 places variables in memory)"
        return "" if origin == step.plan.instruction.number else f"; {self._loaded[origin]}"

    def _check_guard(self, step: Step) -> None:
        """An undefined guard decides if an instruction with an effect is executed."""
        lanes = step.guard_masks if step.plan.has_effect else None
        if lanes is not None:
            verb = "branches" if step.plan.instruction.kind == "branch" else "is executed or not"
            text = f"{verb} depending on an undefined value: {step.plan.instruction.opcode}"
            self._report(BRANCH, step, unpacked(lanes), step.origin(""), lambda row, lane: (text, -1, ""))

    def _decides(self, step: Step) -> None:
        """The operands decide how threads continue."""
        slots = "".join(step.plan.sources)
        lanes = step.undefined_lanes(slots)
        if lanes is not None:
            text = f"continues depending on an undefined value: {step.plan.instruction.opcode}"
            self._report(BRANCH, step, unpacked(lanes), step.origin(slots), lambda row, lane: (text, -1, ""))
        self._defined(step)

    def _check_address(self, step: Step, slots: str) -> None:
        lanes = step.undefined_lanes(slots)
        if lanes is None:
            return
        accesses = step.event.accesses

        def what(row: int, lane: int) -> tuple[str, int, str]:
            access = next((each for each in accesses if each.active[row, lane]), None)
            if access is None:
                return f"computes an address from an undefined value: {step.plan.instruction.opcode}", -1, ""
            address = int(access.addresses[row, lane])
            text = f"computes an address of {access.space} memory from an undefined value: {address & MASK:#x}"
            return text, *self._place(access.space, address)

        self._report(ADDRESS, step, unpacked(lanes), step.origin(slots), what)
        for slot in slots:
            step.define(slot, lanes)

    def _place(self, space: str, address: int) -> tuple[int, str]:
        """An address and its allocation in the form of a finding."""
        allocation = self.kernel.allocation_at(address) if space == "global" else None
        return (address if 0 <= address <= MASK >> 1 else -1), allocation.name if allocation else ""

    def _check_store(self, step: Step, access: Access, undefined: np.ndarray, origin: np.ndarray) -> None:
        """Reports undefined bits stored to global memory, which the host can read. `undefined`: uint8 (n, 32, k), the
        stored bits without padding, which has no meaning for the host.
        """
        if access.space != "global":
            return
        lanes = (undefined != 0).any(axis=2) & access.active
        if lanes.any():
            self._report_store(step, access, lanes, lambda row, lane: undefined[row, lane], origin)

    def _report_store(
        self, step: Step, access: Access, lanes: np.ndarray, bits: Callable[[int, int], np.ndarray], origin: np.ndarray
    ) -> None:
        """Reports that lanes, bool (n, 32), store undefined bits: `bits(row, lane)`, uint8 (k,), in one of them."""

        def what(row: int, lane: int) -> tuple[str, int, str]:
            address = int(access.addresses[row, lane])
            stored = bits(row, lane)
            nbytes, n_undefined = len(stored), int(np.count_nonzero(stored))
            which = "undefined" if n_undefined == nbytes else f"of which {n_undefined} have undefined bits"
            verb = VERBS.get(access.operation, "writes")
            text = f"{verb} {nbytes} bytes of global memory at {address & MASK:#x}, {which}"
            return text, *self._place("global", address)

        self._report(STORE, step, lanes, origin, what)
