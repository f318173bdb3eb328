"""Who watches a launch, seen from the emulator."""

from typing import NamedTuple, Protocol

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.executed import BlockRun, Executed
from gpuprof.emulate.watch.watched_ranges import Refused


class Wanted(NamedTuple):
    """What is watched: numbers of instructions whose executions are told before they happen, and of these, told again
    after, and those whose operands are asked for then; numbers of basic blocks whose runs are told; and of the
    instructions those whose lanes the listener may refuse (Executed.refuse), or which go on without what they must not
    touch (`wrong`), and those that it is asked about each time (`passes`). `state`: the listener asks for what lanes
    hold between two instructions (Executed.state), and may pass over blocks.
    """

    before: frozenset[int]
    after: frozenset[int] = frozenset()
    operands_after: frozenset[int] = frozenset()
    blocks: frozenset[int] = frozenset()
    refusing: frozenset[int] = frozenset()
    passing: frozenset[int] = frozenset()
    state: bool = False


class Listener(Protocol):
    wanted: Wanted

    def block(self, run: BlockRun) -> None:
        """Warps run a basic block: before its first instruction, or, of lanes that wait for others in its midst, after
        its last one.
        """

    def passes(self, at: int) -> bool:
        """Whether it need not be told of instruction `at`, one of Wanted.passing, this time."""

    # Asked of listeners whose `wanted.state` holds.

    def passes_over(self, block, lanes: Lanes) -> bool:
        """Whether it need not be told of the instructions of a whole block (blocks.Block), one event each, which
        `lanes` now run.
        """

    def rests(self, chunk) -> None:
        """The chunk (WatchedChunk) is between two steps: it can be copied (`duplicate`). A listener asks for it by
        `chunk.is_due`.
        """

    def before(self, executed: Executed) -> None:
        """Warps execute an instruction: nothing of it has happened yet."""

    def wrong(self, executed: Executed, refused: Refused) -> None:
        """In its midst: an instruction in Wanted.refusing leaves out what it must not touch."""

    def after(self, executed: Executed) -> None:
        """It has happened. Of an instruction that waits, the lanes have been asked to wait."""
