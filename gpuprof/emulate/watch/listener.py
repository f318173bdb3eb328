"""Listeners of a launch, seen from the emulator."""

from typing import NamedTuple, Protocol

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.executed import BlockRun, Executed
from gpuprof.emulate.watch.watched_ranges import Refused


class WatchRequests(NamedTuple):
    """The events that a listener requests: numbers of instructions whose executions are reported before they happen; of
    these, the ones reported again after, and the ones whose operands are read then; numbers of basic blocks whose runs
    are reported; and of the instructions those whose lanes the listener may refuse (Executed.refuse), or which continue
    without what they must not access (`wrong`), and those for which it is asked each time (`passes`). `state`: the
    listener reads the state of lanes between two instructions (Executed.state), and may pass over blocks.
    """

    before: frozenset[int]
    after: frozenset[int] = frozenset()
    operands_after: frozenset[int] = frozenset()
    blocks: frozenset[int] = frozenset()
    refusing: frozenset[int] = frozenset()
    passing: frozenset[int] = frozenset()
    state: bool = False


class Listener(Protocol):
    wanted: WatchRequests

    def block(self, run: BlockRun) -> None:
        """Warps run a basic block: before its first instruction, or, of lanes that wait for others in its midst, after
        its last one.
        """

    def passes(self, at: int) -> bool:
        """True when instruction `at`, one of WatchRequests.passing, need not be reported this time."""

    # Asked of listeners whose `wanted.state` holds.

    def passes_over(self, block, lanes: Lanes) -> bool:
        """True when the instructions of a complete block (blocks.Block), one event each, which `lanes` now run, need
        not be reported.
        """

    def rests(self, chunk) -> None:
        """The chunk (WatchedChunk) is between two steps: it can be copied (`duplicate`). A listener asks for it by
        `chunk.is_due`.
        """

    def before(self, executed: Executed) -> None:
        """Warps execute an instruction: nothing of it has happened yet."""

    def wrong(self, executed: Executed, refused: Refused) -> None:
        """In its midst: an instruction in WatchRequests.refusing leaves out what it must not touch."""

    def after(self, executed: Executed) -> None:
        """Reports that the instruction has been executed. The lanes of an instruction that waits have begun to wait."""
