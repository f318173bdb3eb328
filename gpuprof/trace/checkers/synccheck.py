"""Barriers and warp operations that threads do not reach as required."""

import re
from collections.abc import Callable, Iterator

import numpy as np

from gpuprof.base.wording import base_name
from gpuprof.isa.encoding import RZ
from gpuprof.isa.kinds import BLOCK_BARRIERS
from gpuprof.trace.checkers.checker import Checker, GridThread, Instance, first_of, ptx_of
from gpuprof.trace.checkers.mbarrier_use import MbarrierUse
from gpuprof.trace.checkers.slots import Slots, with_room
from gpuprof.trace.event import WARP, TraceEvent, unpacked
from gpuprof.trace.kernel import Instruction, Kernel

# PTX of a barrier that lanes of a warp may reach separately. All others need the whole warp at once (PTX ISA, barrier).
UNALIGNED = re.compile(r"\bbarrier(\.cta)?\.(sync|arrive|red)(?!\S*\.aligned)")
MASK_SLOTS = {"warp_sync": "b", "vote": "b", "match": "b", "warp_reduction": "b", "shuffle": "e"}  # by kind
NEVER = -1


class LastPositions(Slots):
    """The last positions of the threads of running blocks. int32: `instructions` (slots, threads), a number plus one;
    `barriers` (slots, warps), that of a barrier that a part of the warp has reached; `reached` (slots, warps), these
    lanes, as bits.
    """

    def __init__(self, n_blocks: int, threads_per_block: int):
        super().__init__(n_blocks, threads_per_block)
        self.instructions = np.zeros((0, self.n_warps * WARP), np.int32)
        self.barriers = np.zeros((0, self.n_warps), np.int32)
        self.reached = np.zeros((0, self.n_warps), np.uint32)

    def grow(self, n_slots: int) -> None:
        self.instructions = with_room(self.instructions, n_slots)
        self.barriers, self.reached = with_room(self.barriers, n_slots), with_room(self.reached, n_slots)

    def clear(self, slots: list[int]) -> None:
        self.instructions[slots] = self.barriers[slots] = self.reached[slots] = 0


class Synccheck(Checker):
    """Finds barriers that part of a warp reaches, warp operations of lanes that are not in their own mask, misuse of
    mbarriers, and deadlocks.

    The report of a deadlock names the waiting threads, their positions, and the missing arrivals.
    """

    name = "synccheck"
    kinds = (*sorted(BLOCK_BARRIERS), *MASK_SLOTS, "mbarrier", "mbarrier_wait", "cluster_barrier", "exit", "return")

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        self._positions = LastPositions(kernel.n_blocks, kernel.threads_per_block)
        self._ended: set[int] = set()  # blocks, if others may access their memory
        self._use = MbarrierUse(kernel, self._misused, self._ended.__contains__)
        self._acts: dict[int, Callable[[TraceEvent], None]] = {}

    def event(self, event: TraceEvent) -> None:
        number = event.instruction.number
        if number not in self._acts:
            self._acts[number] = self._act(event.instruction)
        self._acts[number](event)

    def _act(self, instruction: Instruction) -> Callable[[TraceEvent], None]:
        if instruction.kind in ("exit", "return"):
            return self._exit
        if instruction.kind in BLOCK_BARRIERS and self._is_for_warps(instruction):
            return self._barrier
        if instruction.kind in MASK_SLOTS and getattr(instruction.op, MASK_SLOTS[instruction.kind]):
            return self._among_lanes
        if instruction.kind == "mbarrier":
            return self._use.operate
        return self._wait_at_object if instruction.kind == "mbarrier_wait" else self._note_positions

    def _wait_at_object(self, event: TraceEvent) -> None:
        self._note_positions(event)
        self._use.wait(event)

    def _misused(self, event: TraceEvent, kind: str, text: str, who: GridThread) -> None:
        self.note(kind, Instance(f"{self.thread_text(who)} {text}", who), 1, event.pc)

    def _is_for_warps(self, instruction: Instruction) -> bool:
        return not UNALIGNED.search(ptx_of(self.kernel, instruction))

    def _exit(self, event: TraceEvent) -> None:
        if event.instruction.kind == "exit" or event.depth == 0:
            for block, _ in self._positions.exit(event.block, event.warp, event.taken_masks):
                self._use.forget(block)
                if self.kernel.cluster != (1, 1, 1):
                    self._ended.add(block)

    def _note_positions(self, event: TraceEvent) -> np.ndarray:
        """Notes the positions of the threads; gives their slots."""
        slots = self._positions.slots(event.block)
        threads = (WARP * event.warp)[:, None] + np.arange(WARP)
        held = event.true
        rows = np.broadcast_to(slots[:, None], held.shape)
        self._positions.instructions[rows[held], threads[held]] = event.instruction.number + 1
        return slots

    def _barrier(self, event: TraceEvent) -> None:
        slots, standing, warps = self._note_positions(event), self._positions, event.warp
        live, masks, position = standing.live[slots, warps], event.true_masks, event.instruction.number + 1
        before = standing.barriers[slots, warps]
        if (masks == live).all() and not before.any():
            return
        elsewhere = (before != 0) & (before != position) & (masks != 0)
        if elsewhere.any():
            self._divergent(event, unpacked(np.where(elsewhere, masks, np.uint32(0))), before[elsewhere][0] - 1)
        reached = np.where(before == position, standing.reached[slots, warps], np.uint32(0)) | masks
        has_all = (reached & live == live) | elsewhere
        standing.barriers[slots, warps] = np.where(has_all, 0, np.where(masks != 0, position, before))
        standing.reached[slots, warps] = np.where(has_all, 0, reached)

    def _divergent(self, event: TraceEvent, lanes: np.ndarray, other: int) -> None:
        other_pc = self.kernel.instructions[other].pc
        _, _, who = first_of(event, lanes)
        text = (
            f"{self.thread_text(who)} reaches this barrier, and other threads of its warp another one; all threads "
            "of a warp must reach the same"
        )
        self.note("divergent_barrier", Instance(text, who), int(lanes.sum()), event.pc, other_pc)

    def _among_lanes(self, event: TraceEvent) -> None:
        self._note_positions(event)
        encoded, slot = event.instruction.encoded, MASK_SLOTS[event.instruction.kind]
        if getattr(encoded, slot) == RZ:
            members = np.full((event.n_warps, WARP), encoded.imm, np.uint32)
        else:
            members = next(value.bits for value in event.operands if value.slot == slot).astype(np.uint32)
        named = members >> np.arange(WARP, dtype=np.uint32) & np.uint32(1) != 0
        wrong = event.true & ~named
        if not wrong.any():
            return
        row, lane, who = first_of(event, wrong)
        text = f"{self.thread_text(who)} is not in its own member mask {int(members[row, lane]):#010x}"
        self.note("not_a_member", Instance(text, who), int(wrong.sum()), event.pc)

    def fault(self, text: str) -> None:
        """A deadlock has ended the launch: every live thread waits."""
        if ": deadlock: " not in text:
            return
        waiting = [(block, slot, list(self._waits(slot))) for block, slot in self._positions.running()]
        for block, slot, positions in waiting:
            if len(positions) > 1 or self._positions.barriers[slot].any():
                self._deadlock(block, positions)
                return
        # All are at the same barrier, which expects more threads than there are.
        for block, _, positions in waiting[:1]:
            self._deadlock(block, positions)

    def _deadlock(self, block: int, positions: list[tuple[int, np.ndarray]]) -> None:
        texts = "; ".join(self._waiting_text(block, number, threads) for number, threads in positions)
        number, threads = positions[0]
        who = GridThread(block, int(threads[0]))
        pc = self.kernel.instructions[number].pc if number != NEVER else -1
        self.note("deadlock", Instance(f"{self.thread_text(who)} waits forever: {texts}", who), 1, pc)

    def _waits(self, slot: int) -> Iterator[tuple[int, np.ndarray]]:
        """Instructions at which threads of a block wait, and these threads; NEVER for those that have not
        reached one.
        """
        live = unpacked(self._positions.live[slot]).reshape(-1)
        positions = self._positions.instructions[slot]
        for position in np.unique(positions[live]).tolist():
            yield position - 1, np.flatnonzero(live & (positions == position))

    def _waiting_text(self, block: int, number: int, threads: np.ndarray) -> str:
        who = f"{len(threads)} threads from thread {threads[0]} on" if len(threads) > 1 else f"thread {threads[0]}"
        if number == NEVER:
            return f"{who} of the block reached no barrier"
        instruction = self.kernel.instructions[number]
        where = f"{base_name(instruction.file)}:{instruction.line}" if instruction.line else f"{instruction.pc:#x}"
        return (
            f"{who} of the block reached {instruction.opcode} at {where} last{self._what_for(block, number, threads)}"
        )

    def _what_for(self, block: int, number: int, threads: np.ndarray) -> str:
        """The event that threads wait for, as far as the instruction reveals it."""
        instruction = self.kernel.instructions[number]
        if instruction.kind == "mbarrier_wait":
            return f", and wait for {self._use.what_is_missing(GridThread(block, int(threads[0])))}"
        encoded = instruction.encoded
        n_threads = encoded.imm >> 16 if instruction.kind in BLOCK_BARRIERS and encoded.b == RZ else 0
        return f", which is for {n_threads} threads" if n_threads else ""
