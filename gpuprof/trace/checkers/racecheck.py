"""Unordered accesses of different threads to the same bytes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import RZ
from gpuprof.isa.kinds import ATOMICS, BLOCK_BARRIERS
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.opcodes import numbers
from gpuprof.trace.checkers.checker import Checker, GridThread, Instance, ptx_of
from gpuprof.trace.checkers.races import conflict_rules, pairs, vector_clocks
from gpuprof.trace.checkers.races.accumulators import Accumulators, touching
from gpuprof.trace.checkers.races.asynchronous import AFTER, FAMILIES, STORES, Asynchronous
from gpuprof.trace.checkers.races.block_races import Blocks
from gpuprof.trace.checkers.races.cas_loads import first_guesses
from gpuprof.trace.checkers.races.image_races import IMAGES, accesses_of
from gpuprof.trace.checkers.races.lane_order import ALL_LANES
from gpuprof.trace.checkers.races.matrix_races import (
    NAMES as NAMES_OF_FRAGMENTS,
    TEXTS as TEXTS_OF_FRAGMENTS,
    Fragments,
)
from gpuprof.trace.checkers.races.race_shadow import SPACES, Shadow
from gpuprof.trace.event import WARP, TraceEvent
from gpuprof.trace.generator import Option
from gpuprof.trace.kernel import Code, Instruction, Kernel

ACCESSES = ("load", "store", "atomic", "reduction", "copy", "matrix_load", "matrix_store")
NAMES = {pairs.WRITE_WRITE: "write_write", pairs.READ_WRITE: "read_write", pairs.WRITE_READ: "write_read"}
TEXTS = {
    pairs.WRITE_WRITE: ("writes", "writes", "the two are not ordered, so either value may remain"),
    pairs.READ_WRITE: ("writes", "reads", "the two are not ordered, so the read may see the new value"),
    pairs.WRITE_READ: ("reads", "writes", "the two are not ordered, so the read may see the old value"),
    pairs.NOT_WAITED: ("accesses", "copies", "no thread has waited for the copy, so it may still be in progress"),
    pairs.STILL_READ: ("writes", "reads asynchronously", "no thread has waited for that, so it may see the new value"),
    pairs.NOT_FENCED: (
        "accesses by the asynchronous proxy",
        "writes",
        "there is no fence.proxy.async between the two, so the value may not be visible yet",
    ),
}
SPECIAL_NAMES = {
    pairs.NOT_WAITED: "async_copy_race",
    pairs.STILL_READ: "async_copy_race",
    pairs.NOT_FENCED: "missing_proxy_fence",
}
PUBLISHING = ("barrier_arrive", "fence", "mbarrier", "mbarrier_wait", "cluster_barrier")
CLUSTER_WAIT = numbers("BAR.CLUSTER.WAIT")
PROXY_FENCE, REPORTED_COPIES = "fence.proxy.async", "cp.async.mbarrier.arrive"  # as in PTX
SCOPES = {"cta": vector_clocks.CTA}  # all others are visible to the whole GPU
RELEASES, ACQUIRES = ("release", "acq_rel", "sc"), ("acquire", "acq_rel", "sc")


class Ordering(NamedTuple):
    """Facts of an access: its properties (`how_of`), its scope, and whether it releases or acquires."""

    how: int
    scope: int
    releases: bool
    acquires: bool


class Racecheck(Checker):
    """Finds races: accesses of two threads to the same bytes, one of them a write, that are not ordered.

    Barriers, warp synchronisations, fences together with the accesses around them, and waits for asynchronous copies
    order accesses.
    """

    name = "racecheck"
    kinds = (
        *ACCESSES,
        *("barrier", "barrier_arrive", "barrier_vote", "warp_sync", "fence", "exit", "return", "copy_commit"),
        *("copy_wait", "mbarrier", "mbarrier_wait", "cluster_barrier"),
        *FAMILIES,
        *AFTER,
        *IMAGES,
    )
    post_kinds = (*AFTER, *IMAGES)
    compares_launches = True
    same_value = Option(False, "also find writes of an unchanged value")
    volatile = Option(False, "also find races between volatile accesses")
    warp_synchronous = Option(True, "also find races within a warp")

    def wants_too(self, code: Code) -> frozenset[int]:
        return touching(code) | Fragments(code).wanted

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        wanted = [instruction for instruction in kernel.instructions if instruction.kind in self.kinds]
        kinds = {instruction.kind for instruction in wanted}
        reports_copies = any(map(self._reports_copies, wanted))
        has_groups = bool(kinds & {"copy", *FAMILIES, *AFTER}) or reports_copies
        self._blocks = Blocks(
            kernel.n_blocks,
            kernel.threads_per_block,
            "warp_sync" in kinds,
            any(map(_publishes, wanted)) or bool(kinds & {*PUBLISHING, *AFTER}) or reports_copies,
            has_groups or "fence" in kinds,
            has_groups,
        )
        n_accesses = sum(each.kind in ACCESSES and each.function == kernel.name for each in wanted)
        self._shadow = Shadow(kernel, self._blocks, n_accesses)
        self._async = Asynchronous(kernel, self._blocks, self._shadow.touch_ranges)
        self._shadow.renumber = self._async.renumber
        self._guesses = first_guesses(kernel.code) if "atomic" in kinds else frozenset()
        self._accumulators, self._of_registers = Accumulators(), touching(kernel.code)
        self._fragments = Fragments(kernel.code)
        self._acts: dict[int, Callable[[TraceEvent], None]] = {}
        self._orderings: dict[int, Ordering] = {}

    def event(self, event: TraceEvent) -> None:
        instruction = event.instruction
        act = self._acts.get(instruction.number)
        if act is None:
            act = self._acts[instruction.number] = self._act(instruction)
        act(event)
        if instruction.number in self._of_registers or instruction.kind in ("matrix_commit", "matrix_wait"):
            self._read_accumulators(event)
        if instruction.number in self._fragments.wanted:
            self._check_fragments(event)

    def _check_fragments(self, event: TraceEvent) -> None:
        for hazard in self._fragments.act(event):
            who = GridThread(int(event.block[hazard.row]), WARP * int(event.warp[hazard.row]))
            text = f"the warp of {self.thread_text(who)} {TEXTS_OF_FRAGMENTS[hazard.kind].format(hazard.register)}"
            other_pc = self.kernel.instructions[hazard.other_at].pc if hazard.other_at >= 0 else -1
            self.note(NAMES_OF_FRAGMENTS[hazard.kind], Instance(text, who), 1, event.pc, other_pc)

    def _read_accumulators(self, event: TraceEvent) -> None:
        for early in self._accumulators.act(event):
            who = GridThread(int(event.block[early.row]), WARP * int(event.warp[early.row]))
            text = (
                f"the warp of {self.thread_text(who)} uses registers that a wgmma.mma_async writes; no thread "
                "has waited for its group, so it may still be in progress"
            )
            pcs = (self.kernel.instructions[at].pc for at in (early.at, early.other_at))
            self.note("async_register_race", Instance(text, who), 1, *pcs)

    def _act(self, instruction: Instruction) -> Callable[[TraceEvent], None]:
        kind = instruction.kind
        if kind in ("store", "reduction") and _has(ptx_of(self.kernel, instruction), STORES):
            return self._async.store
        if kind in ACCESSES:
            how = how_of(instruction, self.volatile)
            if instruction.number in self._guesses:
                how = how & ~conflict_rules.VOLATILE | conflict_rules.STRONG
            scope = vector_clocks.CTA if how & conflict_rules.OF_BLOCK else vector_clocks.GPU
            sem = _sem(instruction)
            self._orderings[instruction.number] = Ordering(how, scope, sem in RELEASES, sem in ACQUIRES)
            return self._access
        if kind == "surface_store":
            return self._shadow.note_stored
        if kind in BLOCK_BARRIERS:
            return self._barrier
        if kind == "fence" and PROXY_FENCE in ptx_of(self.kernel, instruction):
            return self._fence_proxy
        return {
            "warp_sync": self._warp_sync,
            "fence": self._fence,
            "exit": self._exit,
            "return": self._exit,
            "mbarrier": self._mbarrier,
            "mbarrier_wait": self._mbarrier_wait,
            "cluster_barrier": self._cluster_barrier,
            **dict.fromkeys(FAMILIES, self._async.group),
        }.get(kind, _nothing)

    def post_event(self, event: TraceEvent) -> None:
        if event.instruction.kind in IMAGES:
            self._access_image(event)
        elif event.instruction.kind == "mbarrier":
            self._async.look(event)
        else:
            self._async.act(event)

    # Instructions that order accesses

    def _barrier(self, event: TraceEvent) -> None:
        masks, slots = event.true_masks, self._blocks.slots(event.block)
        counts = self._counts(event)
        most = WARP * self.kernel.warps_per_block
        is_complete = (counts == 0) | (counts >= most)
        if event.instruction.kind == "barrier_arrive":
            is_complete[:] = False
        if is_complete.any():
            passing = np.where(is_complete, masks, np.uint32(0))
            absent = self._blocks.absent(passing, slots, event.warp)
            vector_clocks.pass_barriers(self._blocks.order, passing, slots, event.warp, absent)
        if not is_complete.all():
            waits = event.instruction.kind != "barrier_arrive"
            self._publish(event, np.where(is_complete, np.uint32(0), masks), vector_clocks.CTA, waits)

    def _counts(self, event: TraceEvent) -> np.ndarray:
        """int64 (n,): the number of threads of each warp's barrier, 0 for all."""
        encoded = event.instruction.encoded
        if encoded.b == RZ:
            return np.full(event.n_warps, encoded.imm >> 16, np.int64)
        bits = next(value.bits for value in event.operands if value.slot == "b")
        first = np.argmax(event.active, axis=1)
        return bits[np.arange(len(first)), first].astype(np.int64)

    def _warp_sync(self, event: TraceEvent) -> None:
        encoded, slots = event.instruction.encoded, self._blocks.slots(event.block)
        members = np.full((event.n_warps, WARP), encoded.imm & 0xFFFFFFFF, np.uint32)
        if encoded.b != RZ:
            members = next(value.bits for value in event.operands if value.slot == "b").astype(np.uint32)
        live = self._blocks.live[slots, event.warp]
        masks = event.true_masks
        held = masks != 0
        masks, slots, warps, members, live = (each[held] for each in (masks, slots, event.warp, members, live))
        # Lanes may wait for fewer lanes than they are: then each is tracked separately.
        absent = self._blocks.absent(np.where(members.min(axis=1) == ALL_LANES, masks, 1), slots, warps)
        vector_clocks.sync_warps(self._blocks.order, masks, slots, warps, members, live, absent)

    def _fence(self, event: TraceEvent) -> None:
        scope = SCOPES.get(unpack_name(event.instruction.encoded.mods, "scope"), vector_clocks.GPU)
        self._publish(event, event.true_masks, scope, False)
        vector_clocks.acquire(
            self._blocks.order, event.true_masks, self._blocks.slots(event.block), event.warp, scope, True
        )

    def _fence_proxy(self, event: TraceEvent) -> None:
        masks, slots = event.true_masks, self._blocks.slots(event.block)
        absent = self._blocks.absent(masks, slots, event.warp)
        vector_clocks.fence_proxy(self._blocks.order, masks, slots, event.warp, absent)

    def _mbarrier(self, event: TraceEvent) -> None:
        if self._reports_copies(event.instruction):
            self._reported_copies(event)
        elif _has(ptx_of(self.kernel, event.instruction), STORES):
            self._async.report_stores(event)
        self._async.begin(event)
        self._publish(event, event.true_masks, vector_clocks.GPU, False)

    def _mbarrier_wait(self, event: TraceEvent) -> None:
        self._async.wait_at_barrier(event)
        self._await(event)

    def _cluster_barrier(self, event: TraceEvent) -> None:
        if event.instruction.encoded.op.number in CLUSTER_WAIT:
            self._await(event)
        else:
            self._publish(event, event.true_masks, vector_clocks.GPU, False)

    def _await(self, event: TraceEvent) -> None:
        vector_clocks.await_others(self._blocks.order, event.true_masks, self._blocks.slots(event.block), event.warp)

    def _reports_copies(self, instruction: Instruction) -> bool:
        return instruction.kind == "mbarrier" and REPORTED_COPIES in ptx_of(self.kernel, instruction)

    def _reported_copies(self, event: TraceEvent) -> None:
        """The previous copies report to an mbarrier: a thread that waits there waits for them."""
        self._async.wait(event, vector_clocks.COPIES, -1)
        self._publish(event, event.true_masks, vector_clocks.GPU, False)

    def _publish(self, event: TraceEvent, masks: np.ndarray, scope: int, waits: bool) -> None:
        slots = self._blocks.slots(event.block)
        vector_clocks.publish(self._blocks.order, masks, event.block, slots, event.warp, scope, waits)

    def _exit(self, event: TraceEvent) -> None:
        if event.instruction.kind == "return" and event.depth:
            return
        for block, slot in self._blocks.exit(event.block, event.warp, event.taken_masks):
            self._shadow.forget(block, slot)
            self._async.forget(block)
            self._accumulators.forget(block)
            self._fragments.forget(block)

    # Ordered accesses

    def _access(self, event: TraceEvent) -> None:
        how, scope, releases, acquires = self._orderings[event.instruction.number]
        slots = self._blocks.slots(event.block)
        if releases:
            self._publish(event, event.true_masks, scope, False)
        for access in event.accesses:
            if access.space in SPACES:
                self._shadow.touch(event, access, slots, how, not self.same_value)
        if acquires:
            vector_clocks.acquire(self._blocks.order, event.true_masks, slots, event.warp, scope, False)

    def _access_image(self, event: TraceEvent) -> None:
        how, slots = how_of(event.instruction, self.volatile), self._blocks.slots(event.block)
        for access in accesses_of(event):
            self._shadow.touch(event, access, slots, how, not self.same_value)

    def finish(self) -> None:
        for space, rows in self._shadow.found.items():
            for row in rows[: self._shadow.n_found[space]].tolist():
                self._report(space, row)
        n_lost = int(self._blocks.order.counts[vector_clocks.N_LOST])
        if n_lost:
            text = f"races between more than {pairs.MOST_FOUND} pairs of instructions are only counted"
            self.note("more_races", Instance(text, GridThread(-1, -1)), n_lost, -1)
        self.touched = self._shadow.touched()
        super().finish()

    def _report(self, space: str, row: list[int]) -> None:
        kind, at, other_at, count, block, thread, other_block, other_thread, address, _ = row
        same_warp = block == other_block and thread // WARP == other_thread // WARP
        if same_warp and not self.warp_synchronous and kind not in SPECIAL_NAMES:
            return
        does, did, why = TEXTS[kind]
        who, other = GridThread(block, thread), GridThread(other_block, other_thread)
        text = (
            f"{self.thread_text(who)} {does} {space} memory at {address:#x}, which {self.thread_text(other)} {did}; "
            f"{why}"
        )
        name = SPECIAL_NAMES[kind] if kind in SPECIAL_NAMES else f"{space}_{NAMES[kind]}_race"
        allocation = self.kernel.allocation_at(address) if space == "global" else None
        pcs = self.kernel.instructions[at].pc, self.kernel.instructions[other_at].pc
        self.note(name, Instance(text, who, address, allocation.name if allocation else ""), count, *pcs)


def _has(ptx: str, names: Sequence[str]) -> bool:
    return any(name in ptx for name in names)


def _nothing(event: TraceEvent) -> None:
    """Orders nothing."""


def _sem(instruction: Instruction) -> str:
    return unpack_name(instruction.encoded.mods, "sem") if "sem" in instruction.op.fields else ""


def _publishes(instruction: Instruction) -> bool:
    """True if it releases or acquires, as a barrier of some threads of a block does."""
    if instruction.kind in BLOCK_BARRIERS:
        return instruction.encoded.b != RZ or instruction.encoded.imm >> 16 != 0
    return _sem(instruction) in (*RELEASES, *ACQUIRES)


def how_of(instruction: Instruction, are_volatile_weak: bool) -> int:
    """Properties of an access: STRONG, VOLATILE, OF_BLOCK and MAY_BE_FLAG."""
    sem = _sem(instruction)
    how = conflict_rules.STRONG | conflict_rules.MAY_BE_FLAG if sem or instruction.kind in ATOMICS else 0
    if sem == "volatile":
        how |= conflict_rules.VOLATILE
        how &= ~conflict_rules.STRONG if are_volatile_weak else how
    is_block = "scope" in instruction.op.fields and unpack_name(instruction.encoded.mods, "scope") == "cta"
    return how | (conflict_rules.OF_BLOCK if is_block else 0)
