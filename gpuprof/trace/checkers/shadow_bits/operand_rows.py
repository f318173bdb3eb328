"""The registers that an instruction reads and writes, as rows of the registers' shadow: computed once."""

from collections.abc import Iterable
from functools import cached_property, reduce
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gpuprof.isa.encoding import PT, Operand, results_of, sources_of
from gpuprof.isa.kinds import KINDS
from gpuprof.trace.checkers.shadow_bits.instruction_rules import U64, ZERO
from gpuprof.trace.checkers.shadow_bits.lane_rules import ByValue, by_value_of
from gpuprof.trace.checkers.shadow_bits.padding_bits import Member, members_of, padding_of
from gpuprof.trace.checkers.shadow_bits.propagate import ALL_LANES, NO_ORIGIN, Simple, simple_of
from gpuprof.trace.checkers.shadow_bits.register_bits import Layout, Registers, layout_of
from gpuprof.trace.event import TraceEvent, unpacked
from gpuprof.trace.generators.counts.register_liveness import words_of
from gpuprof.trace.kernel import Code, Instruction

Register = tuple[int, ...]  # its rows: one; for 64 bits those of the lower and the upper word


class Plan(NamedTuple):
    """`guard`: the row of the predicate, or none; `sources`, `results`: registers by slot; `rows`: all of these;
    `decisive`: those that are not only written; `words`: int64 (m,), the rows of the results, one after the other;
    `simple`: the rule of the result, if it does not depend on values; `by_value`: otherwise, a compiled one that does.
    """

    instruction: Instruction
    layout: Layout
    guard: Register
    sources: dict[str, tuple[Register, ...]]
    results: dict[str, tuple[Register, ...]]
    rows: list[int]
    decisive: list[int]
    words: np.ndarray
    simple: Simple | None
    by_value: ByValue | None

    @property
    def has_effect(self) -> bool:
        return KINDS[self.instruction.kind].has_effect

    @property
    def read_rows(self) -> list[int]:
        return [row for registers in self.sources.values() for register in registers for row in register]


def plan_of(instruction: Instruction, layout: Layout) -> Plan:
    inst = instruction.encoded

    def by_register(operand: Operand) -> tuple[Register, ...]:
        rows = layout.rows_of(operand)
        return tuple(zip(*[iter(rows)] * (len(rows) // operand.count), strict=True))

    index = inst.guard & PT
    guard = () if index == PT else tuple(layout.rows_of(Operand("P", index, 1)))
    sources = {slot: by_register(operand) for slot, operand in sources_of(inst)}
    results = {slot: by_register(operand) for slot, operand in results_of(inst)}
    decisive = {*guard, *(row for each in sources.values() for register in each for row in register)}
    words = [row for each in results.values() for register in each for row in register]
    simple = by_value = None
    if inst.op.kind == "compute":
        read = [register for slot in sorted(sources) for register in sources[slot]]
        simple = simple_of(inst.op, guard, read, [each for registers in results.values() for each in registers])
        by_value = by_value_of(inst, guard, sources, results)
    rows = sorted(decisive.union(words))
    return Plan(instruction, layout, guard, sources, results, rows, sorted(decisive), np.array(words, np.int64), simple,
                by_value)  # fmt: skip


class Module:
    """State that launches of a module share: the layout of registers, the words that are live before each instruction,
    and the plans of executed instructions, by number.
    """

    def __init__(self, code: Code):
        self.layout = layout_of([instruction.encoded for instruction in code.instructions])
        self.live_words = words_of(code)
        self._code, self._plans = code, dict[int, Plan]()

    def plan(self, instruction: Instruction) -> Plan:
        plan = self._plans.get(instruction.number)
        if plan is None:
            plan = self._plans[instruction.number] = plan_of(instruction, self.layout)
        return plan

    @cached_property
    def padding(self) -> dict[int, np.ndarray]:
        """By the number of a store: uint8 (nbytes,), its padding bits."""
        return padding_of(self._code)

    @cached_property
    def members(self) -> dict[int, Member]:
        """By the number of a store: the member of a structure that it writes."""
        return members_of(self._code)

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """By row: numbers of the instructions that read or write it."""
        by_row: dict[int, list[int]] = {}
        for instruction in self._code.instructions:
            for row in self.plan(instruction).rows:
                by_row.setdefault(row, []).append(instruction.number)
        return by_row


_modules: WeakKeyDictionary[Code, Module] = WeakKeyDictionary()


def module_of(code: Code) -> Module:
    """The cached state of a module."""
    if code not in _modules:
        _modules[code] = Module(code)
    return _modules[code]


class Step:
    """Some warps of an event, n of them, with the shadow of their registers. Arrays of lanes are (n, 32)."""

    def __init__(self, event: TraceEvent, plan: Plan, registers: Registers, slots: np.ndarray, rows: np.ndarray | None):
        """`slots` int64: of all warps of the event; `rows`: the indices of the selected warps, None for all."""
        self.event, self.plan, self.inst = event, plan, plan.instruction.encoded
        self._registers, self._rows = registers, rows
        self.slots, self.warps = self._selected(slots), self._selected(event.warp)

    @cached_property
    def active(self) -> np.ndarray:
        """bool"""
        return self._selected(self.event.active)

    @cached_property
    def true(self) -> np.ndarray:
        """bool"""
        return self._selected(self.event.true)

    @property
    def masks(self) -> np.ndarray:
        """uint32 (n,): the lanes of `true`."""
        return self._selected(self.event.true_masks)

    def rows_of(self, slots: str) -> list[int]:
        """The rows of the registers of some slots."""
        return [row for slot in slots for register in self.plan.sources.get(slot, ()) for row in register]

    def _selected(self, of_warps: np.ndarray) -> np.ndarray:
        return of_warps if self._rows is None else of_warps[self._rows]

    def row_of(self, row: int) -> int:
        """The warp's row in the event."""
        return row if self._rows is None else int(self._rows[row])

    def values(self, slot: str) -> list[np.ndarray]:
        """uint64: the values of each register or constant of a slot."""
        return [self._selected(each.bits).astype(U64) for each in self.event.operands if each.slot == slot]

    def undefined(self, slot: str) -> list[np.ndarray]:
        """uint64: the undefined bits of each register of a slot; empty for a constant."""
        return [self._bits(register) for register in self.plan.sources.get(slot, ())]

    def padding(self, slot: str) -> list[np.ndarray]:
        """uint64: the known padding among the bits of `undefined`."""
        return [
            _joined(
                np.where(unpacked(self._registers.padding(self.slots, self.warps, row)), self._word(row), ZERO)
                for row in register
            )
            for register in self.plan.sources.get(slot, ())
        ]

    def only_padding(self, slots: str) -> np.ndarray:
        """uint32 (n,): lanes in which the undefined bits of some slots are only padding."""
        masks = (self._registers.padding(self.slots, self.warps, row) for row in self.rows_of(slots))
        return reduce(np.bitwise_and, masks, np.full(len(self.slots), ALL_LANES))

    def source_nbytes(self, slot: str) -> int:
        """Bytes of a register of a slot."""
        return 8 if getattr(self.inst.op, slot)[:1] == "D" else 4

    def result(self, register: Register) -> np.ndarray:
        """uint64: the undefined bits of a register that it writes."""
        return self._bits(register)

    def any_undefined(self, slots: str) -> np.ndarray:
        """bool: lanes with an undefined bit in one of some slots."""
        undefined = np.zeros((len(self.slots), 32), np.bool_)
        for slot in slots:
            for bits in self.undefined(slot):
                undefined |= bits != 0
        return undefined

    def undefined_lanes(self, slots: str) -> np.ndarray | None:
        """uint32 (n,): lanes of `true` with an undefined bit in one of some slots; None for none."""
        return self._registers.undefined_lanes(self.slots, self.warps, self.rows_of(slots), self.masks)

    @property
    def guard_masks(self) -> np.ndarray | None:
        """uint32 (n,): active lanes with an undefined guard; None for none."""
        active = self._selected(self.event.active_masks)
        return self._registers.undefined_lanes(self.slots, self.warps, self.plan.guard, active)

    def _bits(self, register: Register) -> np.ndarray:
        return _joined(map(self._word, register))

    def _word(self, row: int) -> np.ndarray:
        return self._registers.bits(self.slots, self.warps, row).astype(U64)

    def origin(self, slots: str = "abce") -> np.ndarray:
        """int32 (n,): the instruction from which the undefined bits of some slots come; that of the guard if they have
        none.
        """
        return self._registers.origin(self.slots, self.warps, [*self.rows_of(slots), *self.plan.guard])

    def put(self, slot: str, number: int, undefined: np.ndarray, origin: np.ndarray,
            padding: np.ndarray | None = None) -> None:  # fmt: skip
        """Register `number` of a result gets these undefined bits, uint64 (n or 1, 32 or 1), only padding in lanes of
        `padding`, uint32 (n,). For a lane with an undefined guard all bits are undefined.
        """
        registers = self.plan.results.get(slot, ())
        if number >= len(registers):
            return
        guard_masks, masks = self.guard_masks, self.masks
        doubtful = None if guard_masks is None else unpacked(guard_masks)
        padding = np.zeros(len(masks), np.uint32) if padding is None else padding
        if doubtful is not None:
            masks, padding = masks | guard_masks, padding & ~guard_masks
        for word, row in enumerate(registers[number]):
            bits = np.broadcast_to(undefined >> U64(32 * word), self.true.shape).astype(np.uint32, order="C")
            if doubtful is not None:
                bits[doubtful] = 1 if self.plan.layout.is_predicate(row) else 0xFFFFFFFF
            self._registers.put(self.slots, self.warps, row, bits, masks, padding, origin)

    def define(self, slot: str, lanes: np.ndarray) -> None:
        """Marks the values of lanes, uint32 (n,), in a slot as defined, as they have been reported."""
        nothing, no_lanes = np.zeros((len(lanes), 32), np.uint32), np.zeros(len(lanes), np.uint32)
        of_nowhere = np.full(len(lanes), NO_ORIGIN, np.int32)
        for register in self.plan.sources.get(slot, ()):
            for row in register:
                self._registers.put(self.slots, self.warps, row, nothing, lanes, no_lanes, of_nowhere)


def _joined(words: Iterable[np.ndarray]) -> np.ndarray:
    """A register of one word or two."""
    low, *high = words
    return low | high[0] << U64(32) if high else low
