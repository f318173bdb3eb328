"""The arguments of a generator's `event` and `post_event`, and masks of lanes. Arrays are read-only and valid until the
call returns.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gpuprof.trace.kernel import BasicBlock, Instruction, Kernel


class WarpEvent(NamedTuple):
    """One warp's part of an event, in plain numbers. Masks have lane l in bit l."""

    block: int  # linear index in the grid
    warp: int  # in the block
    active: int  # lanes that execute the instruction
    true: int  # of these, lanes whose guard holds
    lanes: tuple[int, ...]  # numbers of the lanes in `true`
    addresses: tuple[int, ...]  # of the first access, one for each lane that takes part in it; else empty

    @property
    def threads(self) -> tuple[int, ...]:
        """Linear index in the block of each of `lanes`."""
        return tuple(WARP * self.warp + lane for lane in self.lanes)


class Access(NamedTuple):
    """An access of the event's n warps to one state space. `masks` uint32 (n,): lanes that take part; `addresses` int64
    (n, 32): bytes from the start of the block's shared memory or of the thread's local memory, addresses of global
    memory; they have no meaning for other lanes. `sizes` int64 (n, 32): bytes of each lane, None where all access
    `nbytes`.
    """

    space: str
    operation: str  # load, store, atomic, reduction
    nbytes: int
    masks: np.ndarray
    addresses: np.ndarray
    sizes: np.ndarray | None

    @property
    def active(self) -> np.ndarray:
        """bool (n, 32): the lanes in `masks`."""
        return _unpacked(self.masks)


class TraceEvent:
    """The warps that execute one instruction at one time, n of them; or, for a generator with `blocks`, one basic
    block.

    `instruction`: the executed one, or the block's first. All arrays have a row for each warp.
    """

    __slots__ = ("_accesses", "_executed", "basic_block", "instruction", "kernel")

    def __init__(self, kernel: Kernel, instruction: Instruction, basic_block: BasicBlock, executed: Any):
        """`executed`: the emulator's Executed or BlockRun."""
        self.kernel, self.instruction, self.basic_block, self._executed = kernel, instruction, basic_block, executed
        self._accesses: tuple[Access, ...] | None = None

    @property
    def pc(self) -> int:
        return self.instruction.pc

    @property
    def n_warps(self) -> int:
        return len(self._executed.masks)

    @property
    def n_active(self) -> int:
        """Lanes of all warps that are active."""
        return int(np.bitwise_count(self._executed.masks).sum())

    @property
    def n_true(self) -> int:
        """Lanes of all warps that are active and whose guard holds."""
        return int(np.bitwise_count(self._executed.held).sum())

    @property
    def depth(self) -> int:
        """Depth of calls, 0 in the kernel itself."""
        return self._executed.depth

    @property
    def block(self) -> np.ndarray:
        """int64 (n,): the linear index in the grid of each warp's block."""
        return self._executed.grid_blocks

    @property
    def warp(self) -> np.ndarray:
        """int64 (n,): the number of each warp in its block."""
        return self._executed.warps_of_block

    @property
    def active_masks(self) -> np.ndarray:
        """uint32 (n,): lanes that execute the instruction, never 0."""
        return _read_only(self._executed.masks)

    @property
    def active(self) -> np.ndarray:
        """bool (n, 32): the lanes in `active_masks`."""
        return _unpacked(self._executed.masks)

    @property
    def true_masks(self) -> np.ndarray:
        """uint32 (n,): active lanes whose guard holds: those for which the instruction has an effect."""
        return _read_only(self._executed.held)

    @property
    def true(self) -> np.ndarray:
        """bool (n, 32): the lanes in `true_masks`."""
        return _unpacked(self._executed.held)

    @property
    def taken_masks(self) -> np.ndarray:
        """uint32 (n,): for a branch, call, return or exit, the lanes that take it."""
        return self.true_masks

    @property
    def fall_through_masks(self) -> np.ndarray:
        """uint32 (n,): for a branch, call, return or exit, the lanes that continue after it."""
        return _read_only(self._executed.masks & ~self._executed.held)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Its accesses, one for each state space. Generic addresses are resolved to their space; an asynchronous copy
        is a load and a store. Empty for accesses that `ranges` has.
        """
        if self._accesses is None:
            self._accesses = tuple(
                Access(
                    access.space,
                    access.operation,
                    access.nbytes,
                    _read_only(access.masks),
                    _read_only(access.addresses),
                    None if access.sizes is None else _read_only(access.sizes),
                )
                for access in self._executed.accesses
            )
        return self._accesses

    def wrong(self, access: Access) -> Any:
        """In `event`: the lanes of one of `accesses` for which it is invalid in its space, as bool (n, 32) each:
        `misaligned`, `outside`, `null`, `freed` and `read_only`. None where all are valid.
        """
        return self._executed.wrong(access)

    def describe(self, space: str, address: int) -> str:
        """A text for an address of a space, with the memory that contains it."""
        return self._executed.describe(space, address)

    def shared_words(self, rows: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """uint64 (k,): the current content of 8 bytes of shared memory, at `addresses` int64 (k,) as the event's warps
        `rows` see them.
        """
        return self._executed.shared_words(rows, addresses)

    def memory_words(self, access: Access) -> np.ndarray:
        """In `event`: uint64 (m, n, 32), the current content of the bytes of one of `accesses` to global or shared
        memory, in m words per lane, of at most 8 bytes each. It has no meaning for lanes outside of the access's masks.
        """
        return self._executed.memory_words(access)

    @property
    def global_memory(self) -> tuple[int, np.ndarray]:
        """The address of its first byte, and uint8 (n,): global memory, which changes until the launch ends."""
        address, memory = self._executed.global_memory
        return address, _read_only(memory)

    def refuse(self, lanes: np.ndarray) -> None:
        """In `event`, for a generator with `refuses`: disables the access of these lanes, bool (n, 32). They load 0,
        and their stores are dropped.
        """
        self._executed.refuse(lanes)

    @property
    def space(self) -> str:
        return self.instruction.space

    @property
    def nbytes(self) -> int:
        """Bytes that each lane accesses."""
        return self.instruction.nbytes

    @property
    def addresses(self) -> np.ndarray:
        """int64 (n, 32): addresses of the first access. Raises IndexError for an instruction that has none."""
        accesses = self.accesses
        if not accesses:
            raise IndexError(f"{self.instruction.opcode} has no addresses of lanes; event.accesses is empty then")
        return accesses[0].addresses

    @property
    def ranges(self) -> tuple:
        """In `post_event`: the memory that bulk copies, textures, surfaces and matrix descriptors touch. Each has
        space, operation, and arrays of k elements: `warps`, rows of the event, `lanes`, `addresses` and `nbytes`.
        """
        return tuple(self._executed.ranges)

    @property
    def operands(self) -> tuple:
        """The operands that the instruction reads, without the guard: each with `slot` (a, b, c, e), `name` of the
        register ("" for a constant) and `bits`, uint32, uint64 or bool (n, 32). In `post_event` only for a generator
        with `values`.
        """
        return tuple(value._replace(bits=_read_only(value.bits)) for value in self._executed.operands)

    @property
    def results(self) -> tuple:
        """In `post_event`: the written values, in the form of `operands`. Empty for an instruction that ends a basic
        block.
        """
        return tuple(value._replace(bits=_read_only(value.bits)) for value in self._executed.results)

    def warps(self) -> Iterator[WarpEvent]:
        """The event's warps, one at a time."""
        executed = self._executed
        first = executed.accesses[0] if self.instruction.operation and executed.accesses else None
        rows = zip(executed.grid_blocks.tolist(), executed.warps_of_block.tolist(), executed.masks.tolist(),
                   executed.held.tolist(), strict=True)  # fmt: skip
        for row, (block, warp, active, true) in enumerate(rows):
            addresses = ()
            if first is not None:
                mask, of_lanes = int(first.masks[row]), first.addresses[row].tolist()
                addresses = tuple(of_lanes[lane] for lane in _lanes(mask))
            yield WarpEvent(block, warp, active, true, _lanes(true), addresses)


def _lanes(mask: int) -> tuple[int, ...]:
    return tuple(lane for lane in range(WARP) if mask >> lane & 1)


def _unpacked(masks: np.ndarray) -> np.ndarray:
    return _read_only(unpacked(masks))


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


WARP = 32


def unpacked(masks: np.ndarray) -> np.ndarray:
    """bool (n, 32): the lanes of masks, uint32 (n,), with lane l in bit l."""
    bits = np.unpackbits(np.ascontiguousarray(masks).view(np.uint8), bitorder="little")
    return bits.view(np.bool_).reshape(-1, WARP)


def packed(lanes: np.ndarray) -> np.ndarray:
    """uint32 (n,): the masks of lanes, bool (n, 32)."""
    return np.packbits(lanes, axis=1, bitorder="little").view(np.uint32).reshape(-1)
