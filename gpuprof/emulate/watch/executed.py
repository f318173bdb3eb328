"""The event of one instruction, or of one run of a basic block, for a listener. Values are computed on first use."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.core.lanes import WARP, Lanes, pack_masks
from gpuprof.emulate.core.late_accesses import AccessedRanges, WrongRange
from gpuprof.emulate.watch.bounds import Wrong, wrong_lanes
from gpuprof.emulate.watch.watch_state import State
from gpuprof.emulate.watch.watched_accesses import Access, Reader, of_warps
from gpuprof.emulate.watch.watched_operands import Place, Value, values_at
from gpuprof.emulate.watch.watched_ranges import Ranges, Refused, ranges_of, refused_of


class Site(NamedTuple):
    """The facts of an instruction that are known before it runs. `is_by_lane`: what a lane gets depends on no other
    one's address.
    """

    at: int
    guard: Callable[[Lanes], np.ndarray] | None
    accesses: Reader | None
    sources: tuple[Place, ...]
    results: tuple[Place, ...]
    is_by_lane: bool


class OfWarps:
    """`warps` int64 (n,): the warps that do something at one time, by their numbers in the chunk; `masks` uint32 (n,):
    their active lanes, never 0; `depth` of calls.
    """

    __slots__ = ("chunk", "depth", "masks", "warps")

    def __init__(self, lanes: Lanes):
        self.chunk, self.warps, self.masks, self.depth = lanes.chunk, lanes.step_warps, lanes.step_masks, lanes.depth

    @property
    def grid_blocks(self) -> np.ndarray:
        """int64 (n,), read-only: the linear index in the grid of each warp's block. The same object for the same warps
        one after the other.
        """
        return self._places()[1]

    @property
    def warps_of_block(self) -> np.ndarray:
        """int64 (n,), read-only: the number of each warp in its block."""
        return self._places()[2]

    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        chunk = self.chunk
        places = chunk.places_of_warps  # the warps of one step are often those of the next
        if places[0] is not self.warps:
            blocks, in_block = np.divmod(self.warps, chunk.warps_per_block)
            blocks = np.asarray(chunk.launch.grid_blocks(chunk.first_block + blocks))
            blocks.flags.writeable = in_block.flags.writeable = False
            places = chunk.places_of_warps = self.warps, blocks, in_block
        return places


class BlockRun(OfWarps):
    """A run of basic block `block`."""

    __slots__ = ("block",)
    accesses, operands, results, ranges = (), (), (), ()

    def __init__(self, block: int, lanes: Lanes):
        super().__init__(lanes)
        self.block = block

    @property
    def held(self) -> np.ndarray:
        """A block has no guard."""
        return self.masks


class Executed(OfWarps):
    """Instruction `at`, executed by n warps.

    What is read of registers must be read before the instruction has run (`keep`), but for the results.
    """

    __slots__ = ("_accesses", "_held", "_keep", "_lanes", "_operands", "at", "ranges", "refused", "site")

    def __init__(self, site: Site, lanes: Lanes):
        super().__init__(lanes)
        self.at, self.site, self._lanes = site.at, site, lanes
        self._keep = None if len(self.warps) == len(lanes.warps) else np.flatnonzero(lanes.masks)
        self._held: np.ndarray | None = None
        self._accesses: tuple[Access, ...] | None = None
        self._operands: tuple[Value, ...] | None = None
        self.ranges: list[Ranges] = []  # complete once it has run
        self.refused: np.ndarray | None = None  # bool, an element of each row of the lanes

    @property
    def held(self) -> np.ndarray:
        """uint32 (n,): active lanes whose guard holds."""
        if self._held is None:
            guard = self.site.guard
            self._held = self.masks
            if guard is not None:
                row = np.broadcast_to(guard(self._lanes), self._lanes.n)
                held = pack_masks(row) & self._lanes.masks
                self._held = held if self._keep is None else held[self._keep]
        return self._held

    @property
    def accesses(self) -> tuple[Access, ...]:
        if self._accesses is None:
            self._accesses = ()
            if self.site.accesses is not None:
                lanes, held = self._lanes, self.held
                if self._keep is None:
                    self._accesses = self.site.accesses(lanes, held)
                else:
                    everyone = np.zeros(len(lanes.warps), np.uint32)
                    everyone[self._keep] = held
                    accesses = self.site.accesses(lanes, everyone)
                    self._accesses = tuple(of_warps(access, self._keep) for access in accesses)
        return self._accesses

    @property
    def operands(self) -> tuple[Value, ...]:
        """The values that the instruction reads, without the guard."""
        if self._operands is None:
            self._operands = values_at(self._lanes, self.site.sources, self._keep)
        return self._operands

    @property
    def results(self) -> tuple[Value, ...]:
        """The values that the instruction has written."""
        return values_at(self._lanes, self.site.results, self._keep)

    def wrong(self, access: Access) -> Wrong | None:
        """The lanes of one of `accesses` that must not do it; None for none. Before it runs."""
        return wrong_lanes(self._lanes, access)

    def state(self) -> State:
        """The state of all lanes of the chunk before the instruction runs."""
        return State(self.chunk, self._lanes, self.at)

    def describe(self, space: str, address: int) -> str:
        """A text on the location of an address of a space."""
        return self.chunk.spaces[space].describe(address)

    def shared_words(self, rows: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """uint64 (k,): what 8 bytes of shared memory hold now, at `addresses` int64 (k,) as warps `rows` see them."""
        space = self.chunk.spaces["shared"]
        byte_indexes = space.places(self.warps[rows] // space.warps_per_block, addresses)
        return space.views[8].take(byte_indexes >> 3, mode="clip")

    def memory_words(self, access: Access) -> np.ndarray:
        """uint64 (m, n, 32): what the bytes of an access to global or shared memory hold now, in m words a lane."""
        space, word = self.chunk.spaces[access.space], min(access.nbytes, 8)
        byte_indexes = access.addresses - GLOBAL_BASE
        if access.space == "shared":
            own = np.repeat(self.warps // space.warps_per_block, WARP)
            byte_indexes = space.places(own, access.addresses.reshape(-1)).reshape(-1, WARP)
        first = byte_indexes // word
        words_read = np.empty((access.nbytes // word, *first.shape), np.uint64)
        for number, words in enumerate(words_read):
            words[...] = space.views[word].take(first + number, mode="clip")
        return words_read

    @property
    def global_memory(self) -> tuple[int, np.ndarray]:
        """The address of the first byte, and uint8 (n,)."""
        return GLOBAL_BASE, self.chunk.spaces["global"].views[1]

    def refuse(self, lanes: np.ndarray) -> None:
        """These lanes, bool (n, 32), do not access memory: what they load is 0, what they store is dropped. For
        instructions in WatchRequests.refusing, before they run.
        """
        refused = lanes
        if self._keep is not None:
            refused = np.zeros((len(self._lanes.warps), WARP), np.bool_)
            refused[self._keep] = lanes
        refused = refused.reshape(-1)
        self.refused = refused if self.refused is None else self.refused | refused

    def add_ranges(self, new_ranges: Iterable[AccessedRanges]) -> None:
        self.ranges += [ranges_of(touched, self._keep) for touched in new_ranges if len(touched.elements)]

    def wrong_range(self, wrong: WrongRange) -> Refused:
        return refused_of(wrong, self.chunk.spaces["global"].memory, self._keep)

    def store_inputs(self, with_operands: bool) -> None:
        """Copies the values of the registers that are read, since the instruction may write them."""
        self._held = self.held.copy()
        self._accesses = tuple(access._replace(addresses=access.addresses.copy()) for access in self.accesses)
        if with_operands:
            self._operands = tuple(value._replace(bits=value.bits.copy()) for value in self.operands)
