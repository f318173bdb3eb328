"""Carries out a list of saved commands on a GPU of its own, without a recording: how long it takes, and what comes out.

SavedStream, commands, perhaps changed ─ run_stream ─> Outcome: cycles, digest of the results
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from gpuprof.device import commands as cmd
from gpuprof.device.memory import AddressSpace, Allocation
from gpuprof.errors import GpuprofError
from gpuprof.records.command_stream.codec import SavedCopyIn, SavedLoad
from gpuprof.records.command_stream.read import SavedStream
from gpuprof.run.observers.observer import LaunchResult
from gpuprof.run.replay import Player, Registers, chip_of, saved_memory, with_host
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import Session, open_session

Commands: TypeAlias = list[tuple[Any, bool]]  # as SavedStream.commands gives them: each, and whether it failed

COPIES = (SavedCopyIn, cmd.CopyOut, cmd.CopyWithin)
# What decides which addresses allocations have.
ALLOCATING = (cmd.Allocate, cmd.Free, cmd.Map, cmd.Unmap, SavedLoad)


@dataclass(frozen=True)
class HostWork:
    """The host spends `ns` nanoseconds besides calls. It stands for a HostTime, whose clock shows what the calls before
    it have cost: with others before it, the host still works as long.
    """

    ns: int


class Outcome(NamedTuple):
    """The cycle in which the last launch or operation ended, and a digest of all that the host has read and of the
    memory in the end. program_cycles: until the host, too, is at its end.
    """

    cycles: int
    digest: bytes
    program_cycles: int = 0
    host_work_ns: tuple[int, ...] = ()  # of each HostTime
    copied_back: frozenset[int] = frozenset()  # indices of copies in, of what the last copy out of there has given


@dataclass
class Ends(Observer):
    """Collects the end of launches, and the cycles that they took, by their index."""

    last_cycle: int = 0
    cycles: dict[int, int] = field(default_factory=dict)

    def finished(self, result: LaunchResult) -> None:
        self.last_cycle = max(self.last_cycle, result.timing.end_cycle)
        self.cycles[result.launch.index] = result.timing.end_cycle - result.timing.start_cycle


class _Reader:
    """Follows what the host reads, and what it brings back to where it was copied out."""

    def __init__(self, memory: AddressSpace) -> None:
        self.digest = sha256()
        self.copied_back: set[int] = set()
        self._memory = memory
        self._last: dict[tuple[int, int], bytes] = {}  # (address, nbytes) -> digest of the last copy out of there

    def see(self, index: int, command: cmd.Command, result: Any) -> None:
        """A command after it was carried out, with what it has given."""
        if isinstance(command, cmd.CopyOut):
            self.digest.update(result)
            self._went_out(command.address, result)
        elif isinstance(command, cmd.CopyIn):
            self._came_in(index, command.address, command.data)
        elif isinstance(command, cmd.CopyWithin) and command.direction == "out":
            self._went_out(command.source, self._memory.read(command.destination, command.nbytes))
        elif isinstance(command, cmd.CopyWithin) and command.direction == "in":
            self._came_in(index, command.destination, self._memory.read(command.source, command.nbytes))

    def _went_out(self, address: int, data: bytes) -> None:
        self._last[address, len(data)] = sha256(data).digest()

    def _came_in(self, index: int, address: int, data: bytes | memoryview) -> None:
        if self._last.get((address, len(data))) == sha256(data).digest():
            self.copied_back.add(index)


def settings_of(stream: SavedStream) -> Settings:
    """Settings with the chip, the host and the bounds that the stream was recorded with."""
    header = stream.header
    settings = Settings(chip=chip_of(stream), max_cycles=header.max_cycles, max_instructions=header.max_instructions)
    return with_host(settings, stream)


def run_stream(stream: SavedStream, settings: Settings, commands: Commands, ends: Ends | None = None) -> Outcome:
    """Carries out commands on a GPU of its own. Raises what they raise, where they did not fail before."""
    ends = ends or Ends()
    session, player = _opened(stream, settings, ends)
    reader, work_ns = _Reader(session.memory), []
    try:
        for index, (saved, failed) in enumerate(commands):
            if isinstance(saved, cmd.HostTime):
                work_ns.append(max(0, saved.ns - session.host_ns))
            elif isinstance(saved, HostWork):
                saved = cmd.HostTime(session.host_ns + saved.ns)
            try:
                command = player.command(saved)
                result = session.submit(command)
            except GpuprofError:
                if not failed:
                    raise
                continue
            reader.see(index, command, result)
        session.finish()
    except BaseException:
        session.drop()
        raise
    for allocation in session.memory.allocations:
        reader.digest.update(session.memory.read(allocation.address, allocation.nbytes))
    cycles = max(ends.last_cycle, session.timeline.end_of_all)
    return Outcome(
        cycles,
        reader.digest.digest(),
        max(cycles, session.timeline.present),
        tuple(work_ns),
        frozenset(reader.copied_back),
    )


def _opened(stream: SavedStream, settings: Settings, ends: Ends) -> tuple[Session, Player]:
    settings = replace(settings, observer=ends, recorder=None, save_stream=False, traces=(), observe=False)
    session = open_session(settings, memory=saved_memory(stream))
    return session, Player(stream, session, True, Registers(settings.sampling, frozenset(), 0, 1))


def with_host_work(commands: Commands, work_ns: Sequence[int]) -> Commands:
    """The commands with a HostWork in place of each HostTime. work_ns: of each, as an Outcome has it."""
    left = iter(work_ns)
    return [
        (HostWork(next(left)), failed) if isinstance(saved, cmd.HostTime) else (saved, failed)
        for saved, failed in commands
    ]


def copied_allocations(stream: SavedStream, settings: Settings, commands: Commands) -> Iterator[tuple[int, Allocation]]:
    """The index of each copy, and the allocation of the device that it goes to, or that it comes from if it goes to the
    host. Nothing is launched or copied.
    """
    session, player = _opened(stream, settings, Ends())
    for index, (saved, failed) in enumerate(commands):
        if failed:
            continue
        if isinstance(saved, ALLOCATING):
            session.submit(player.command(saved))
        elif isinstance(saved, COPIES) and (allocation := session.memory.at(on_device(saved))):
            yield index, allocation
    session.finish()


def on_device(copy: Any) -> int:
    """The address of a copy, one of COPIES, in the device's memory."""
    if not isinstance(copy, cmd.CopyWithin):
        return copy.address
    return copy.source if copy.direction == "out" else copy.destination
