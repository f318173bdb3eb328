"""Changes that a programmer might make to a whole program, as changes of its commands.

    commands of a stream ─ a row of CHANGES ─> Changed: what it applies to, the commands after the change

Only what the commands show is proposed; whether it gains anything is measured (program_experiment).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gpuprof.base.wording import plural
from gpuprof.device import commands as cmd
from gpuprof.records.command_stream.codec import SavedCopyIn, SavedHostWrite, SavedLaunch, SavedLoad
from gpuprof.run.stream_run import COPIES, Commands, HostWork, on_device

FEWEST_NODES = 8  # of a graph that is proposed: ours, for fewer the launch of the graph is most of the cost
COPY_STREAM = 1 << 30  # a stream that no program has
FIRST_EVENT = 1 << 30  # the first of events that no program has
MOST_NAMES = 2  # of buffers

# Copies and fills as they are counted in texts: one, many.
NODES = {
    SavedLaunch: ("launch", "launches"),
    SavedCopyIn: ("copy", "copies"),
    cmd.CopyOut: ("copy", "copies"),
    cmd.CopyWithin: ("copy", "copies"),
    cmd.Fill: ("fill", "fills"),
}
# Between two nodes of a graph: the host's own work comes before the launch of the graph, its calls are made when the
# graph is captured.
WORK, CALLS = (HostWork, cmd.HostTime, SavedLoad), (cmd.HostCall,)
# Commands that ask nothing of the GPU, nor wait for it: copies to the device may be requested before them or after.
ASIDE = (*WORK, *CALLS, SavedHostWrite, cmd.Allocate, cmd.NonBlocking, cmd.Priority)
# The host waits in these, or touches what the GPU may use.
WAITS = (cmd.EventTime, cmd.Free, cmd.Unmap, cmd.HostFunction, cmd.HostTouch)


class Program(NamedTuple):
    """Commands of a program, without those that only observers read.

    staged_nbytes: of the host: it does not stay with copies of pageable memory to the device up to this size. names: of
    the buffers of copies, by the copy's index. copied_back: indices of the copies in of what the last copy out of there
    has given; None as long as no run has shown that.
    """

    commands: Commands
    staged_nbytes: int
    names: Mapping[int, str] = {}
    copied_back: frozenset[int] | None = None


class Changed(NamedTuple):
    """A changed program. what: the change, and what it applies to. in_other_order: the same requests in another order,
    which give the same results if the change is right; None: `commands` show it.
    """

    what: str
    commands: Commands
    in_other_order: Commands | None = None


class Change(NamedTuple):
    """finding: what is wrong with a program that gains by the change. `of` gives None where it does not apply."""

    finding: str
    of: Callable[[Program], Changed | None]


class Unit(NamedTuple):
    """A call of the host: one command, or those that Together puts together. start: its index."""

    start: int
    commands: Commands

    @property
    def end(self) -> int:
        return self.start + len(self.commands)

    @property
    def is_graph(self) -> bool:
        first, _ = self.commands[0]
        return isinstance(first, cmd.Together) and first.what == "graph"

    @property
    def requests(self) -> list[Any]:
        return [saved for saved, _ in self.commands if not isinstance(saved, cmd.Together | cmd.TogetherEnd)]


def units(commands: Commands) -> Iterator[Unit]:
    start, depth = 0, 0
    for index, (saved, _) in enumerate(commands):
        depth += isinstance(saved, cmd.Together) - isinstance(saved, cmd.TogetherEnd)
        if depth <= 0 or index == len(commands) - 1:
            yield Unit(start, commands[start : index + 1])
            start, depth = index + 1, 0


# As a graph.


class _Run(NamedTuple):
    """Nodes that follow each other on a stream, and that the host requests without a wait: commands[start:end]."""

    stream: int
    start: int
    end: int
    kinds: tuple[type, ...]  # of each node


def as_graph(program: Program) -> Changed | None:
    """Each long row of launches, copies and fills that the host requests without a wait becomes a graph."""
    runs = [run for run in _runs(program.commands) if len(run.kinds) >= FEWEST_NODES]
    if not runs:
        return None
    commands = list(program.commands)
    for run in reversed(runs):
        commands[run.start : run.end] = _bracketed(commands[run.start : run.end], len(run.kinds))
    nodes = _counted(kind for run in runs for kind in run.kinds)
    graphs = "a graph" if len(runs) == 1 else f"{len(runs):,} graphs"
    return Changed(f"{nodes} as {graphs}, instantiated before", commands)


def _runs(commands: Commands) -> Iterator[_Run]:
    run = None
    for unit in units(commands):
        stream = _node_stream(unit)
        if _is_passed_over(unit.commands[0][0]):
            continue
        if stream is not None:
            kind = type(unit.requests[0])
            if run and run.stream == stream:
                run = run._replace(end=unit.end, kinds=(*run.kinds, kind))
                continue
        if run:
            yield run
        run = None if stream is None else _Run(stream, unit.start, unit.end, (kind,))
    if run:
        yield run


def _is_passed_over(saved: Any) -> bool:
    """True for what may be between two nodes; calls that make or change a graph may not."""
    return isinstance(saved, WORK) or (isinstance(saved, CALLS) and not saved.kind.startswith("graph"))


def _node_stream(unit: Unit) -> int | None:
    """The stream of what can be a node of a graph, which is no graph; None for other requests."""
    requests = unit.requests
    if unit.is_graph or not requests or any(failed for _, failed in unit.commands):
        return None
    if not all(isinstance(saved, tuple(NODES)) and _is_node(saved) for saved in requests):
        return None
    streams = {saved.stream for saved in requests}
    return streams.pop() if len(streams) == 1 else None


def _is_node(saved: Any) -> bool:
    """The host stays with copies of pageable memory, which it may change after them."""
    return _is_free(saved) and getattr(saved, "is_timed", True)


def _is_free(saved: Any) -> bool:
    """True for requests that the host does not stay with."""
    return getattr(saved, "is_pinned", True) and not getattr(saved, "is_waited", False)


def _bracketed(part: Commands, n: int) -> Commands:
    before = [each for each in part if isinstance(each[0], WORK)]
    nodes = [each for each in part if not isinstance(each[0], (*WORK, *CALLS))]
    return [*before, (cmd.Together("graph", n), False), *nodes, (cmd.TogetherEnd(), False)]


# Page-locked memory.


def pinned(program: Program) -> Changed | None:
    """Copies of pageable memory that the host stays with become those of page-locked memory; the host still waits for
    their end.
    """
    commands: Commands = []
    nbytes: Counter[str] = Counter()
    n = 0
    for unit in units(program.commands):
        copies = {} if unit.is_graph else dict(_pageable(unit))
        length = sum(saved.nbytes for saved in copies.values())
        if length <= program.staged_nbytes:
            commands += unit.commands
            continue
        n += 1
        for index, each in enumerate(unit.commands, unit.start):
            commands += _page_locked(copies[index]) if index in copies else [each]
        for index, copy in copies.items():
            nbytes[program.names.get(index, "")] += copy.nbytes
    if not n:
        return None
    return Changed(f"page-locked memory for {_copies(n, nbytes)}", commands)


def _page_locked(copy: Any) -> Commands:
    """A copy of page-locked memory, and the host's wait for its end."""
    if isinstance(copy, SavedCopyIn):
        return [(replace(copy, is_pinned=True, is_waited=True), False)]
    return [(replace(copy, is_pinned=True), False), (cmd.Wait(cmd.EVERYTHING, cmd.HOST, copy.stream), False)]


def _pageable(unit: Unit) -> Iterator[tuple[int, Any]]:
    """The copies of pageable memory, by index."""
    for index, (saved, failed) in enumerate(unit.commands, unit.start):
        if isinstance(saved, SavedCopyIn | cmd.CopyOut) and not saved.is_pinned and not failed:
            yield index, saved


# Copies to the device while launches run.


def overlapped(program: Program) -> Changed | None:
    """Copies of page-locked memory to the device that come after other work of their stream move to a stream of their
    own; what follows on their stream waits for them.
    """
    commands: Commands = [(cmd.NonBlocking(COPY_STREAM), False)]
    before, after = list(commands), []  # the other order: all copies of a part come before its launches
    nbytes: Counter[str] = Counter()
    busy: set[int] = set()  # streams with work since the host's last wait
    n = 0
    for unit in units(program.commands):
        if (stream := _copy_in_stream(unit)) in busy:
            moved, wait = _moved(unit, FIRST_EVENT + n, stream)
            n += 1
            commands += [*moved, wait]
            before += moved
            after.append(wait)
            for index, (saved, _) in enumerate(unit.commands, unit.start):
                nbytes[program.names.get(index, "")] += getattr(saved, "nbytes", 0)
            continue
        commands += unit.commands
        if _waits(unit):
            before, after, busy = [*before, *after, *unit.commands], [], set()
            continue
        if stream is not None or all(isinstance(saved, ASIDE) for saved in unit.requests):
            before += unit.commands
        else:
            after += unit.commands
            busy |= {saved.stream for saved in unit.requests if isinstance(saved, tuple(NODES))}
    if not n:
        return None
    return Changed(f"{_copies(n, nbytes)} to the device on another stream", commands, [*before, *after])


def _copy_in_stream(unit: Unit) -> int | None:
    """The stream of one copy to the device that the host does not stay with; None for other requests."""
    streams = {saved.stream if _is_free_in(saved) else None for saved in unit.requests}
    if unit.is_graph or len(streams) != 1 or any(failed for _, failed in unit.commands):
        return None
    return streams.pop()


def _is_free_in(saved: Any) -> bool:
    return isinstance(saved, COPIES) and _direction(saved) == "in" and _is_free(saved)


def _moved(unit: Unit, event: int, stream: int) -> tuple[Commands, tuple[Any, bool]]:
    """The unit on the stream for copies, with an event at its end; and the wait for that."""
    copies = [
        (replace(saved, stream=COPY_STREAM), failed) if _is_free_in(saved) else (saved, failed)
        for saved, failed in unit.commands
    ]
    return [*copies, (cmd.Event(event, COPY_STREAM), False)], (cmd.Wait(event, stream), False)


def _waits(unit: Unit) -> bool:
    """True if the host waits for the GPU in it."""
    return any(
        isinstance(saved, WAITS) or (isinstance(saved, cmd.Wait) and saved.stream == cmd.HOST) or not _is_free(saved)
        for saved in unit.requests
    )


# Back and forth.


def brought_back(program: Program) -> Changed | None:
    """Copies to the device of what was copied out of there before, and that the host has not changed, are left out."""
    found = [
        (index, saved)
        for index, saved in _there_and_back(program.commands)
        if program.copied_back is None or index in program.copied_back
    ]
    if not found:
        return None
    nbytes: Counter[str] = Counter()
    for index, saved in found:
        nbytes[program.names.get(index, "")] += saved.nbytes
    left_out = {index for index, _ in found}
    commands = [each for index, each in enumerate(program.commands) if index not in left_out]
    unless = " if the host does not change the bytes" if program.copied_back is None else ""
    return Changed(f"without {_copies(len(found), nbytes)} back to where the bytes came from{unless}", commands)


def _there_and_back(commands: Commands) -> Iterator[tuple[int, Any]]:
    """Copies in, by index, to where a copy out of as many bytes was before."""
    out: set[tuple[int, int]] = set()
    depth = 0
    for index, (saved, failed) in enumerate(commands):
        depth += isinstance(saved, cmd.Together) - isinstance(saved, cmd.TogetherEnd)
        if not isinstance(saved, COPIES) or failed:
            continue
        place, direction = (on_device(saved), saved.nbytes), _direction(saved)
        if direction == "out":
            out.add(place)
        # Rows of one copy stay, and nodes of a graph: without them, its call is still there.
        elif direction == "in" and not depth and place in out:
            yield index, saved


def _direction(copy: Any) -> str:
    """One of commands.COPY_DIRECTIONS."""
    return {SavedCopyIn: "in", cmd.CopyOut: "out"}.get(type(copy)) or copy.direction


# Managed memory.


def prefetched(program: Program) -> Changed | None:
    """Managed memory that the host has touched is brought to the GPU before the next launch, where the program does
    not do that itself.
    """
    commands: Commands = []
    touched: list[tuple[int, int]] = []
    n = nbytes = 0
    for unit in units(program.commands):
        for saved in unit.requests:
            if isinstance(saved, cmd.HostTouch):
                touched += saved.ranges
            elif isinstance(saved, cmd.Prefetch) and not saved.to_host:
                touched = [each for each in touched if not _overlap(each, (saved.address, saved.nbytes))]
        launch = next((saved for saved in unit.requests if isinstance(saved, SavedLaunch)), None)
        if launch and touched:
            for address, length in _joined(touched):
                commands.append((cmd.Prefetch(address, length, stream=launch.stream), False))
                n, nbytes = n + 1, nbytes + length
            touched = []
        commands += unit.commands
    if not n:
        return None
    return Changed(f"{plural(n, 'prefetch', 'prefetches')} of {nbytes:,} bytes that the host has touched", commands)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < sum(other) and other[0] < sum(one)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """(address, nbytes) of what they cover together, ascending."""
    joined: list[tuple[int, int]] = []
    for address, nbytes in sorted(ranges):
        if joined and address <= sum(joined[-1]):
            start, length = joined.pop()
            address, nbytes = start, max(start + length, address + nbytes) - start
        joined.append((address, nbytes))
    return joined


# Texts.


def _counted(kinds: Iterable[type]) -> str:
    """ "30 launches, 2 copies"."""
    words = Counter(NODES[kind] for kind in kinds)
    return ", ".join(plural(count, *words_) for words_, count in sorted(words.items(), key=lambda each: -each[1]))


def _copies(n: int, nbytes: Counter[str]) -> str:
    """ "2 copies (8,192 bytes, most of x and y)": the buffers with the most bytes."""
    names = sorted((name for name in nbytes if name), key=lambda name: (-nbytes[name], name))
    some = "most " if len(names) > MOST_NAMES else ""
    of = f", {some}of {' and '.join(names[:MOST_NAMES])}" if names else ""
    return f"{plural(n, 'copy', 'copies')} ({nbytes.total():,} bytes{of})"


CHANGES = (
    Change("launch-bound", as_graph),
    Change("pageable memory", pinned),
    Change("copies and kernels could overlap", overlapped),
    Change("the same bytes go back and forth", brought_back),
    Change("page faults", prefetched),
)
