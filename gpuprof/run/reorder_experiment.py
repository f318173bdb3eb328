"""Runs a saved stream without some order between two launches, and compares what comes out.

    SavedStream, pairs of launches ─ measure_stream ─> cycles, the result of each pair, each launch's own cycles
    SavedStream, a pair of launches ─> commands with the second on a stream of its own ─ Session ─> cycles, bytes

Once the second is requested after the first, as it was, which gives the gain; once before it, which shows whether the
results need the order: the emulator carries out launches in the order of their requests.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from gpuprof.device import commands as cmd
from gpuprof.errors import KernelFault, NotComparable
from gpuprof.records.command_stream.codec import SavedCopyIn, SavedHostWrite, SavedLaunch, SavedLoad
from gpuprof.records.command_stream.read import SavedStream
from gpuprof.run.run_settings import Settings
from gpuprof.run.stream_run import Ends, HostWork, Outcome, run_stream, settings_of, with_host_work

# Commands that say nothing to the GPU: they may be between the two launches.
SILENT = (
    cmd.Allocate, cmd.TaskBegin, cmd.TaskEnd, cmd.Identify, cmd.Relate, cmd.Parameter, SavedLoad, cmd.Priority,
    cmd.HostTime, HostWork, cmd.HostCall, cmd.Together, cmd.TogetherEnd, SavedHostWrite,
)  # fmt: skip
MOVED = (SavedCopyIn, cmd.Fill, cmd.CopyWithin)  # ... and these go with the second launch


class Measured(NamedTuple):
    """The result of a proposal: the cycles gained, below 0 those lost, or why it is withdrawn."""

    first: int  # number of the first launch, among those that the host requested
    second: int
    gain_cycles: int
    withdrawn: str


class Measurement(NamedTuple):
    """The cycles of the stream as it is, the result of each proposal, and the cycles of each launch when no other runs,
    by its index.
    """

    cycles: int
    proposals: list[Measured]
    without_overlap: dict[int, int]


def measure_stream(stream: SavedStream, pairs: Iterable[tuple[int, int]]) -> Measurement:
    """Runs the stream without the order of each of the pairs, one after the other. pairs: two launches, by their
    numbers among those that the host requested.
    """
    settings, commands = settings_of(stream), listed(stream)
    usual = run_stream(stream, settings, commands)
    commands = with_host_work(commands, usual.host_work_ns)
    proposals = [measure(stream, settings, commands, usual, first, second) for first, second in pairs]
    return Measurement(usual.cycles, proposals, without_overlap(stream, settings, commands))


def listed(stream: SavedStream) -> list[tuple[Any, bool]]:
    return list(stream.commands())


def measure(
    stream: SavedStream, settings: Settings, commands: list[tuple[Any, bool]], usual: Outcome, first: int, second: int
) -> Measured:
    """Runs the stream without the order of two launches, by their numbers among those of the host."""
    try:
        in_order, swapped = relaxed(commands, first, second)
    except NotComparable as error:
        return Measured(first, second, 0, str(error))
    try:
        if run_stream(stream, settings, swapped).digest != usual.digest:
            return Measured(first, second, 0, "the results are others when the second goes first")
        free = run_stream(stream, settings, in_order)
    except KernelFault as error:
        return Measured(first, second, 0, f"it fails: {error}")
    if free.digest != usual.digest:
        return Measured(first, second, 0, "the results are others")
    return Measured(first, second, usual.cycles - free.cycles, "")


def relaxed(
    commands: list[tuple[Any, bool]], first: int, second: int
) -> tuple[list[tuple[Any, bool]], list[tuple[Any, bool]]]:
    """The commands with the two launches on streams of their own: in the order of their requests, and with the second
    before the first. Raises NotComparable, which says why, where something else separates them.
    """
    launches = [index for index, (saved, _) in enumerate(commands) if isinstance(saved, SavedLaunch)]
    start, end = launches[first], launches[second]
    one, two = commands[start], commands[end]
    if one[1] or two[1] or two[0].dependent:
        raise NotComparable("one of the launches failed, or is programmatic")
    around = (one[0], two[0])
    between = _split(commands[start + 1 : end], *around)
    before, after = [*commands[:start], *_before(*around)], [*_after(*around), *commands[end + 1 :]]
    moved = [(replace(one[0], stream=FIRST), False), (replace(two[0], stream=SECOND), False)]
    in_order = [moved[0], *between.after_first, *between.before_second, moved[1]]
    swapped = [*between.before_second, moved[1], moved[0], *between.after_first]
    return [*before, *in_order, *after], [*before, *swapped, *after]


FIRST, SECOND = 1 << 30, (1 << 30) + 1  # streams that no script has
EVENT = 1 << 30  # the first of events that no script has


class _Between(NamedTuple):
    """The commands between two launches: those that have to come before the second, and those after the first."""

    before_second: list[tuple[Any, bool]]
    after_first: list[tuple[Any, bool]]


def _split(between: list[tuple[Any, bool]], first: SavedLaunch, second: SavedLaunch) -> _Between:
    """Copies go with the second launch, events with the stream that they are of; a wait of the second for the first is
    the order that is taken away.
    """
    parts = _Between([], [])
    recorded: set[int] = set()  # after the first
    for saved, failed in between:
        if isinstance(saved, SILENT):
            parts.before_second.append((saved, failed))
        elif isinstance(saved, MOVED) and saved.stream == second.stream:
            parts.before_second.append((replace(saved, stream=SECOND), failed))
        elif isinstance(saved, cmd.Event) and saved.stream == first.stream:
            recorded.add(saved.event)
            parts.after_first.append((replace(saved, stream=FIRST), failed))
        elif isinstance(saved, cmd.Wait) and saved.stream == second.stream and saved.stream > 0:
            if saved.event not in recorded and saved.event != cmd.EVERYTHING:
                parts.before_second.append((replace(saved, stream=SECOND), failed))
        else:
            raise NotComparable(f"a {_name(saved)} is between them and waits for the first")
    return parts


def _name(saved: Any) -> str:
    names = {
        "SavedLaunch": "launch",
        "CopyOut": "copy to the host",
        "SavedCopyIn": "copy to the device",
        "HostFunction": "host function",
    }
    return names.get(type(saved).__name__, type(saved).__name__.lower())


def _before(first: SavedLaunch, second: SavedLaunch) -> Iterator[tuple[Any, bool]]:
    """Both wait for what came before them on their streams; the default stream waits for all there is."""
    if 0 in (first.stream, second.stream):
        yield cmd.Wait(cmd.EVERYTHING, cmd.HOST), False
    for number, (launch, stream) in enumerate(((first, FIRST), (second, SECOND))):
        if launch.stream:
            yield cmd.Event(EVENT + number, launch.stream), False
            yield cmd.Wait(EVENT + number, stream), False


def _after(first: SavedLaunch, second: SavedLaunch) -> Iterator[tuple[Any, bool]]:
    """Commands that follow on their streams wait for them, and on that of the second for both; the host waits for the
    default stream.
    """
    if 0 in (first.stream, second.stream):
        yield cmd.Wait(cmd.EVERYTHING, cmd.HOST), False
        return
    yield cmd.Event(EVENT + 2, FIRST), False
    yield cmd.Event(EVENT + 3, SECOND), False
    yield cmd.Wait(EVENT + 2, first.stream), False
    yield cmd.Wait(EVENT + 2, second.stream), False
    yield cmd.Wait(EVENT + 3, second.stream), False


def without_overlap(stream: SavedStream, settings: Settings, commands: list[tuple[Any, bool]]) -> dict[int, int]:
    """The cycles of each launch when no other runs, by its index."""
    ends = Ends()
    serial = [
        (replace(saved, stream=0, dependent=False) if isinstance(saved, SavedLaunch) else saved, failed)
        for saved, failed in commands
    ]
    run_stream(stream, settings, serial, ends)
    return ends.cycles
