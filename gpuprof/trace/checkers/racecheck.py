"""Accesses of different threads to the same bytes that nothing orders."""

from collections.abc import Callable, Sequence

import numpy as np

from gpuprof.isa.encoding import RZ
from gpuprof.isa.kinds import ATOMICS, BLOCK_BARRIERS
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.opcodes import numbers
from gpuprof.trace.checkers.checker import Checker, Instance, Who, ptx_of
from gpuprof.trace.checkers.races import order, stamps
from gpuprof.trace.checkers.races.accumulators import Accumulators, touching
from gpuprof.trace.checkers.races.asynchronous import AFTER, FAMILIES, STORES, Asynchronous
from gpuprof.trace.checkers.races.blocks import Blocks
from gpuprof.trace.checkers.races.fragments import NAMES as NAMES_OF_FRAGMENTS, TEXTS as TEXTS_OF_FRAGMENTS, Fragments
from gpuprof.trace.checkers.races.guesses import first_guesses
from gpuprof.trace.checkers.races.images import IMAGES, accesses_of
from gpuprof.trace.checkers.races.memory import GlobalUnits, SharedUnits, pages_of
from gpuprof.trace.checkers.races.rows import LEAST_ROWS, compact
from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.generator import Option
from gpuprof.trace.kernel import Code, Instruction, Kernel
from gpuprof.trace.masks import WARP

ACCESSES = ("load", "store", "atomic", "reduction", "copy", "matrix_load", "matrix_store")
MATRIX_ROW_NBYTES = 16
UNITS_OF_ROW_SHIFT = 3  # as many units have a row of accesses before the table is looked through
WORD_NBYTES = 4  # as narrow as matrices of warp groups are looked at
SPACES = ("global", "shared")
NAMES = {stamps.WRITE_WRITE: "write_write", stamps.READ_WRITE: "read_write", stamps.WRITE_READ: "write_read"}
TEXTS = {
    stamps.WRITE_WRITE: ("writes", "writes", "nothing orders the two, so either may stay"),
    stamps.READ_WRITE: ("writes", "reads", "nothing orders the two, so the read may see the new value"),
    stamps.WRITE_READ: ("reads", "writes", "nothing orders the two, so the read may see the old value"),
    stamps.NOT_WAITED: ("accesses", "copies", "nobody has waited for the copy, so it may still be under way"),
    stamps.STILL_READ: ("writes", "reads asynchronously", "nobody has waited for that, so it may see the new value"),
    stamps.NOT_FENCED: (
        "accesses by the asynchronous proxy",
        "writes",
        "no fence.proxy.async stands between the two, so the value may not be there yet",
    ),
}
SPECIAL_NAMES = {
    stamps.NOT_WAITED: "async_copy_race",
    stamps.STILL_READ: "async_copy_race",
    stamps.NOT_FENCED: "missing_proxy_fence",
}
CLUSTER_WAIT = numbers("BAR.CLUSTER.WAIT")
PROXY_FENCE, REPORTED_COPIES = "fence.proxy.async", "cp.async.mbarrier.arrive"  # as they stand in PTX
SCOPES = {"cta": order.CTA}  # all others are seen by the whole GPU
RELEASES, ACQUIRES = ("release", "acq_rel", "sc"), ("acquire", "acq_rel", "sc")


class Racecheck(Checker):
    """Finds races: accesses of two threads to the same bytes, one of them a write, that nothing orders.

    Barriers, warp synchronisations, fences with what is read and written behind and before them, and waits for
    asynchronous copies order accesses.
    """

    name = "racecheck"
    kinds = (
        *ACCESSES,
        *("barrier", "barrier_arrive", "barrier_vote", "warp_sync", "fence", "exit", "return", "copy_commit"),
        *("copy_wait", "mbarrier", "mbarrier_wait", "cluster_barrier", "hint"),
        *FAMILIES,
        *AFTER,
        *IMAGES,
    )
    post_kinds = (*AFTER, *IMAGES)
    compares_launches = True
    same_value = Option(False, "also find writes of the value that is there")
    volatile = Option(False, "also find races of volatile accesses with each other")
    warp_synchronous = Option(True, "also find races within a warp")

    def wants_too(self, code: Code) -> frozenset[int]:
        return touching(code) | Fragments(code).wanted

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        wanted = [instruction for instruction in kernel.instructions if instruction.kind in self.kinds]
        kinds = {instruction.kind for instruction in wanted}
        self._blocks = Blocks(
            kernel.n_blocks,
            kernel.threads_per_block,
            "warp_sync" in kinds,
            any(map(_publishes, wanted)) or bool(kinds & {"fence", "mbarrier", "cluster_barrier"}),
        )
        widths = {instruction.nbytes for instruction in wanted if instruction.kind in ACCESSES}
        widths = {MATRIX_ROW_NBYTES if width == 0 else width for width in widths}
        if kinds & set(AFTER):
            widths.add(WORD_NBYTES)
        if kinds & set(IMAGES):
            widths.add(1)  # of a texel, which the code does not say
        # Accesses are aligned, so units of the narrowest one are as exact as bytes.
        self._shift = max(min((_unit_nbytes(width) for width in widths), default=4).bit_length() - 1, 0)
        first = kernel.allocations[0].address if kernel.allocations else 0
        self._global = GlobalUnits(first, self._shift)
        self._shared = SharedUnits(kernel, self._blocks, self._shift)
        self._async = Asynchronous(kernel, self._blocks, self._touch_ranges)
        self._found = {space: np.zeros((stamps.MOST_FOUND, stamps.N_FIELDS), np.int64) for space in SPACES}
        self._n_found = dict.fromkeys(SPACES, 0)
        self._guesses = first_guesses(kernel.instructions) if "atomic" in kinds else frozenset()
        self._accumulators, self._of_registers = Accumulators(), touching(kernel.code)
        self._fragments = Fragments(kernel.code)
        self._acts: dict[int, Callable[[TraceEvent], None]] = {}
        self._how: dict[int, int] = {}

    def event(self, event: TraceEvent) -> None:
        instruction = event.instruction
        act = self._acts.get(instruction.number)
        if act is None:
            act = self._acts[instruction.number] = self._act(instruction)
        act(event)
        if instruction.number in self._of_registers or instruction.kind in ("matrix_commit", "matrix_wait"):
            self._read_accumulators(event)
        if instruction.number in self._fragments.wanted:
            self._meet_fragments(event)

    def _meet_fragments(self, event: TraceEvent) -> None:
        for met in self._fragments.act(event):
            who = Who(int(event.block[met.row]), WARP * int(event.warp[met.row]))
            text = f"the warp of {self.thread_text(who)} {TEXTS_OF_FRAGMENTS[met.kind].format(met.register)}"
            other_pc = self.kernel.instructions[met.other_at].pc if met.other_at >= 0 else -1
            self.note(NAMES_OF_FRAGMENTS[met.kind], Instance(text, who), 1, event.pc, other_pc)

    def _read_accumulators(self, event: TraceEvent) -> None:
        for found in self._accumulators.act(event):
            who = Who(int(event.block[found.row]), WARP * int(event.warp[found.row]))
            text = (
                f"the warp of {self.thread_text(who)} uses what a wgmma.mma_async writes to registers; nobody has "
                "waited for its group, so it may still be under way"
            )
            pcs = (self.kernel.instructions[at].pc for at in (found.at, found.other_at))
            self.note("async_register_race", Instance(text, who), 1, *pcs)

    def _act(self, instruction: Instruction) -> Callable[[TraceEvent], None]:
        kind = instruction.kind
        if kind in ("store", "reduction") and _has(ptx_of(self.kernel, instruction), STORES):
            return self._async.store
        if kind in ACCESSES:
            how = how_of(instruction, self.volatile)
            if instruction.number in self._guesses:
                how = how & ~stamps.VOLATILE | stamps.STRONG
            self._how[instruction.number] = how
            return self._access
        if kind in BLOCK_BARRIERS:
            return self._barrier
        if kind == "hint":
            return self._reported_copies if REPORTED_COPIES in ptx_of(self.kernel, instruction) else _nothing
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

    # What orders.

    def _barrier(self, event: TraceEvent) -> None:
        masks, slots = event.true_masks, self._blocks.slots(event.block)
        counts = self._counts(event)
        most = WARP * self.kernel.warps_per_block
        whole = (counts == 0) | (counts >= most)
        if event.instruction.kind == "barrier_arrive":
            whole[:] = False
        if whole.any():
            order.pass_barriers(self._blocks.order, np.where(whole, masks, np.uint32(0)), slots, event.warp)
        if not whole.all():
            waits = event.instruction.kind != "barrier_arrive"
            self._publish(event, np.where(whole, np.uint32(0), masks), order.CTA, waits)

    def _counts(self, event: TraceEvent) -> np.ndarray:
        """int64 (n,): threads that each warp's barrier is for, 0 for all."""
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
        order.sync_warps(self._blocks.order, masks[held], slots[held], event.warp[held], members[held], live[held])

    def _fence(self, event: TraceEvent) -> None:
        scope = SCOPES.get(unpack_name(event.instruction.encoded.mods, "scope"), order.GPU)
        self._publish(event, event.true_masks, scope, False)
        order.acquire(self._blocks.order, event.true_masks, self._blocks.slots(event.block), event.warp, scope, True)

    def _fence_proxy(self, event: TraceEvent) -> None:
        order.fence_proxy(self._blocks.order, event.true_masks, self._blocks.slots(event.block), event.warp)

    def _mbarrier(self, event: TraceEvent) -> None:
        ptx = ptx_of(self.kernel, event.instruction)
        if REPORTED_COPIES in ptx:
            self._reported_copies(event)
        elif _has(ptx, STORES):
            self._async.report_stores(event)
        self._async.begin(event)
        self._publish(event, event.true_masks, order.GPU, False)

    def _mbarrier_wait(self, event: TraceEvent) -> None:
        self._async.wait_at_barrier(event)
        self._await(event)

    def _cluster_barrier(self, event: TraceEvent) -> None:
        if event.instruction.encoded.op.number in CLUSTER_WAIT:
            self._await(event)
        else:
            self._publish(event, event.true_masks, order.GPU, False)

    def _await(self, event: TraceEvent) -> None:
        order.await_others(self._blocks.order, event.true_masks, self._blocks.slots(event.block), event.warp)

    def _reported_copies(self, event: TraceEvent) -> None:
        """The copies so far report to an mbarrier: who waits there waits for them."""
        self._async.wait(event, order.COPIES, -1)
        self._publish(event, event.true_masks, order.GPU, False)

    def _publish(self, event: TraceEvent, masks: np.ndarray, scope: int, waits: bool) -> None:
        slots = self._blocks.slots(event.block)
        order.publish(self._blocks.order, masks, event.block, slots, event.warp, scope, waits)

    def _exit(self, event: TraceEvent) -> None:
        if event.instruction.kind == "return" and event.depth:
            return
        for block, slot in self._blocks.exit(event.block, event.warp, event.taken_masks):
            self._shared.clear(block, slot)
            self._async.forget(block)
            self._accumulators.forget(block)
            self._fragments.forget(block)

    # What is ordered.

    def _access(self, event: TraceEvent) -> None:
        instruction, how = event.instruction, self._how[event.instruction.number]
        slots, sem = self._blocks.slots(event.block), _sem(instruction)
        scope = order.CTA if how & stamps.OF_BLOCK else order.GPU
        if sem in RELEASES:
            self._publish(event, event.true_masks, scope, False)
        for access in event.accesses:
            self._access_space(event, access, slots, how)
        if sem in ACQUIRES:
            order.acquire(self._blocks.order, event.true_masks, slots, event.warp, scope, False)

    def _access_image(self, event: TraceEvent) -> None:
        how, slots = how_of(event.instruction, self.volatile), self._blocks.slots(event.block)
        for access in accesses_of(event):
            self._access_space(event, access, slots, how)

    def _access_space(self, event: TraceEvent, access: Access, slots: np.ndarray, how: int) -> None:
        if access.space == "global":
            index = self._global.index(access.addresses, _aligned(access))
            self._touch(event, access, slots, index, self._global.stamps, how)
        elif access.space == "shared":
            index = self._shared.index(
                access.addresses, access.nbytes, _aligned(access), event.block[:, None], slots[:, None]
            )
            self._touch(event, access, slots, index, self._shared.stamps, how)

    def _touch(self, event: TraceEvent, access: Access, slots, index, memory, how: int) -> None:
        does = {"load": stamps.READ, "store": stamps.WRITE}.get(access.operation, stamps.READ | stamps.WRITE)
        if event.instruction.kind == "copy":
            how |= stamps.ASYNC if access.operation == "store" else 0
        values = _values(event) if access.operation == "store" and event.instruction.kind == "store" else None
        n_units, start = max(1, access.nbytes >> self._shift), 0
        self._room_for(stamps.MOMENTS_OF_WARP, stamps.rows_of_warp(n_units))
        given = np.zeros((event.n_warps, WARP), np.uint32) if values is None else values
        has_values = values is not None and not self.same_value
        number, found = event.instruction.number, self._found[access.space]
        self._blocks.order.counts[order.N_FOUND] = self._n_found[access.space]
        while True:
            start = stamps.touch(
                self._blocks.order,
                memory,
                found,
                index,
                n_units,
                access.masks,
                access.addresses,
                event.block,
                slots,
                event.warp,
                number,
                how,
                does,
                given,
                has_values,
                start,
            )
            if start == event.n_warps:
                break
            self._room_for(stamps.MOMENTS_OF_WARP, stamps.rows_of_warp(n_units))
        self._n_found[access.space] = int(self._blocks.order.counts[order.N_FOUND])

    def _room_for(self, n_moments: int, n_rows: int) -> None:
        """Room for more moments and rows of accesses. What nobody needs goes once there is much of it."""
        counts, tables = self._blocks.order.counts, self._blocks.order
        is_full = counts[order.N_MOMENTS] + n_moments > len(tables.moments) or counts[order.N_ROWS] + n_rows > len(
            tables.rows
        )
        spaces = (self._global.stamps, self._shared.stamps)
        most = max(LEAST_ROWS, sum(map(len, spaces)) >> UNITS_OF_ROW_SHIFT)
        if is_full and max(counts[order.N_MOMENTS], counts[order.N_ROWS]) > most:
            self._async.renumber(lambda moments: compact(tables, spaces, moments))
        self._blocks.room_for(n_moments)
        self._blocks.room_for_rows(n_rows)

    def _touch_ranges(self, space: str, operation: str, addresses, nbytes, who, moment: int, at: int, how: int) -> None:
        """Ranges of an asynchronous operation, int64 (k,); `who`, int64 (k, 4): block, slot, warp, lane."""
        if space == "global":
            of_range, addresses, nbytes = pages_of(addresses, nbytes)
            who, every = who[of_range], np.ones(len(addresses), np.bool_)
            index, memory = self._global.index(addresses, every), self._global
        else:
            every = np.ones(len(addresses), np.bool_)
            index, memory = self._shared.index(addresses, nbytes, every, who[:, 0], who[:, 1]), self._shared
        n_units, start = np.maximum(nbytes >> self._shift, 1), 0
        does = {"load": stamps.READ, "store": stamps.WRITE}.get(operation, stamps.READ | stamps.WRITE)
        self._blocks.order.counts[order.N_FOUND] = self._n_found[space]
        while True:
            start = stamps.touch_ranges(
                self._blocks.order,
                memory.stamps,
                self._found[space],
                index,
                n_units,
                self._shift,
                addresses,
                who,
                moment,
                at,
                how,
                does,
                start,
            )
            if start == len(n_units):
                break
            self._blocks.room_for_rows(int(n_units[start]) + 1)  # not compacted: `moment` is a number
        self._n_found[space] = int(self._blocks.order.counts[order.N_FOUND])

    def finish(self) -> None:
        for space, found in self._found.items():
            for row in found[found[:, stamps.COUNT] > 0].tolist():
                self._tell(space, row)
        n_lost = int(self._blocks.order.counts[order.N_LOST])
        if n_lost:
            text = f"races between more than {stamps.MOST_FOUND} pairs of places are only counted"
            self.note("more_races", Instance(text, Who(-1, -1)), n_lost, -1)
        self.touched = self._global.touched(self._blocks.order, self.kernel.threads_per_block)
        super().finish()

    def _tell(self, space: str, row: list[int]) -> None:
        kind, at, other_at, count, block, thread, other_block, other_thread, address, _ = row
        same_warp = block == other_block and thread // WARP == other_thread // WARP
        if same_warp and not self.warp_synchronous and kind not in SPECIAL_NAMES:
            return
        does, did, why = TEXTS[kind]
        who, other = Who(block, thread), Who(other_block, other_thread)
        text = (
            f"{self.thread_text(who)} {does} {space} memory at {address:#x}, which {self.thread_text(other)} {did}; "
            f"{why}"
        )
        name = SPECIAL_NAMES[kind] if kind in SPECIAL_NAMES else f"{space}_{NAMES[kind]}_race"
        found = self.kernel.allocation_at(address) if space == "global" else None
        pcs = self.kernel.instructions[at].pc, self.kernel.instructions[other_at].pc
        self.note(name, Instance(text, who, address, found.name if found else ""), count, *pcs)


def _has(ptx: str, names: Sequence[str]) -> bool:
    return any(name in ptx for name in names)


def _nothing(event: TraceEvent) -> None:
    """It orders nothing."""


def _aligned(access: Access) -> np.ndarray:
    """bool (n, 32): lanes that are looked at. The units of a misaligned access, which faults or is refused, might leave
    the page that the stamps of its first one are in.
    """
    return access.active & (access.addresses & (access.nbytes - 1) == 0)


def _sem(instruction: Instruction) -> str:
    return unpack_name(instruction.encoded.mods, "sem") if "sem" in instruction.op.fields else ""


def _publishes(instruction: Instruction) -> bool:
    return _sem(instruction) in RELEASES or instruction.kind == "barrier_arrive"


def how_of(instruction: Instruction, are_volatile_weak: bool) -> int:
    """How an access is made: STRONG, VOLATILE, OF_BLOCK and MAY_BE_FLAG."""
    sem = _sem(instruction)
    how = stamps.STRONG | stamps.MAY_BE_FLAG if sem or instruction.kind in ATOMICS else 0
    if sem == "volatile":
        how |= stamps.VOLATILE
        how &= ~stamps.STRONG if are_volatile_weak else how
    is_block = "scope" in instruction.op.fields and unpack_name(instruction.encoded.mods, "scope") == "cta"
    return how | (stamps.OF_BLOCK if is_block else 0)


def _unit_nbytes(width: int) -> int:
    """The largest power of two that divides a width, 16 at most."""
    return min(width & -width, MATRIX_ROW_NBYTES)


def _values(event: TraceEvent) -> np.ndarray:
    """uint32 (n, 32): a number for the bytes that each lane stores, never 0; zeros have one, however many they are."""
    mixed, nbytes = np.zeros((event.n_warps, WARP), np.uint32), event.instruction.nbytes
    stored = [value.bits for value in event.operands if value.slot == "b"]
    unused = np.uint32(max(32 - 8 * nbytes // max(len(stored), 1), 0))  # upper bits of a register
    for bits in stored:
        parts = (bits, bits >> 32) if bits.dtype.itemsize == 8 else (bits << unused,)
        for part in parts:
            mixed = mixed * np.uint32(31) + part.astype(np.uint32)
    mixed = np.where(mixed == 0, mixed, mixed * np.uint32(31) + np.uint32(nbytes))
    return mixed * np.uint32(2654435761) | np.uint32(1)
