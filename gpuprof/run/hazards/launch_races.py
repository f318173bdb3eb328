"""Races of launches with each other, and with copies and fills, as findings.

commands as they are done ─ relate.happens_before ─> nodes
nodes, what launches have touched ─ between ─> conflicts ─> findings of the later launch, or of the one before a copy
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule
from gpuprof.isa.opcodes import TABLE
from gpuprof.relate.happens_before import DEFAULT_STREAM, Node, StreamOrder, is_before
from gpuprof.run.hazards.launch_pairs import Between, Conflict, Did, text_of
from gpuprof.trace.checkers.checker import GridThread, thread_text
from gpuprof.trace.checkers.races.touched_lines import FREES, NO_INSTRUCTION, WRITES, run_of_bytes
from gpuprof.trace.event import WARP
from gpuprof.trace.finding_report import place_of
from gpuprof.trace.kernel import Allocation, Kernel
from gpuprof.trace.tables import Finding

COPIES = {
    cmd.CopyIn: "a copy to the device",
    cmd.CopyOut: "a copy to the host",
    cmd.CopyWithin: "a copy",
    cmd.Fill: "a fill",
}
WITHIN = {"within": "within the device", "in": "to the device", "out": "to the host", "host": "within host memory"}
_GRID_WAITS = [opcode.number for opcode in TABLE if opcode.kind == "grid_wait"]


class CommandRace(NamedTuple):
    """A finding of the generator called `name`; `kernel`: the launch that it is of, None where two copies race."""

    name: str
    kernel: Kernel | None
    finding: Finding


class Freed(NamedTuple):
    """An allocation that cudaFreeAsync has freed, and when."""

    node: Node
    allocation: Allocation


class LaunchRaces:
    """The order of one session's commands, and for each generator that asks for them the races between these."""

    def __init__(self, memory: AddressSpace):
        self._memory, self._order = memory, StreamOrder()
        self._between: dict[str, Between] = {}
        self._nodes: dict[int, Node] = {}  # by launch, of those that may still launch others
        self._ends_with_launch: set[int] = set()  # streams whose last request is a launch
        self._orders = {
            cmd.NonBlocking: lambda c: self._order.make_non_blocking(c.stream),
            cmd.Event: lambda c: self._order.record(c.event, c.stream),
            cmd.EventTime: lambda c: self._host_waits(self._order.host_waits_for_event, c.event),
            cmd.Wait: self._wait,
            cmd.Free: self._free,
        }
        self._freed: list[Freed] = []  # and not given back
        self._allocated: dict[int, cmd.Allocate] = {}  # by address

    def watch(self, name: str, same_value: bool) -> None:
        self._between[name] = Between(same_value)

    def unwatch(self, name: str) -> None:
        self._between.pop(name, None)

    @property
    def is_wanted(self) -> bool:
        return bool(self._between)

    def launch(self, launch: cmd.Launch, parent: int | None) -> Node:
        """A launch is requested by the host, or by launch `parent`: then it is a part of that one."""
        if parent is not None:
            node = self._nodes[parent]
        else:
            overlaps = (
                launch.dependent and launch.stream in self._ends_with_launch and not waits_for_grids(launch.module)
            )
            node = self._order.ask(launch.stream, overlaps)
            self._ends_with_launch.add(launch.stream)
        self._nodes[launch.index] = node
        return node

    def touched(self, name: str, kernel: Kernel, node: Node, runs: np.ndarray) -> list[Finding]:
        """A launch has ended: its races with the commands before it."""
        did = Did(f"launch {kernel.launch} ({kernel.name}, {_stream_text(kernel.stream)})", kernel, node)
        return [_finding(conflict) for conflict in self._between[name].add(did, runs)]

    def done(self, command: cmd.Command, result) -> Iterator[CommandRace]:
        """A command has been carried out; the launches before it are emulated where it touches memory."""
        if isinstance(command, cmd.Allocate):
            self._allocated[result.address] = command
        elif type(command) in self._orders:
            self._orders[type(command)](command)
        elif isinstance(command, cmd.FreeLater):
            yield from self._free_later(command)
        elif type(command) in COPIES and self.is_wanted:
            yield from self._copied(command)

    def _copied(self, command: cmd.Command) -> Iterator[CommandRace]:
        yield from self._did(_called(command), command.stream, _bytes_of(command))
        if self._is_waited_for(command):
            self._host_waits(self._order.host_waits_for_stream, command.stream)

    def _did(self, what: str, stream: int, runs: np.ndarray) -> Iterator[CommandRace]:
        """Something that is no launch has been asked of a stream."""
        node = self._order.ask(stream)
        self._ends_with_launch.discard(stream)
        did = Did(f"{what} ({_stream_text(stream)})", None, node)
        for name, between in self._between.items():
            for conflict in between.add(did, runs):
                yield CommandRace(name, conflict.first.kernel, _finding(conflict))

    def freed_before(self, node: Node) -> Iterator[Allocation]:
        """Allocations that a launch may not touch any more."""
        for freed in self._freed:
            if is_before(freed.node, node):
                yield freed.allocation

    def _free_later(self, command: cmd.FreeLater) -> Iterator[CommandRace]:
        held = self._memory.at(command.address)
        if held is None or held.address != command.address:  # the Free after it reports that
            return
        yield from self._did("cudaFreeAsync", command.stream, run_of_bytes(held.address, held.nbytes, WRITES | FREES))
        freed = Allocation(held.address, held.nbytes, held.name)
        self._freed.append(Freed(self._order.last(command.stream), freed))

    def _is_waited_for(self, command: cmd.Command) -> bool:
        """True if the host waits until it is done (CUDA runtime API, API synchronization behavior). Copies between
        host and device by the default stream are taken for cudaMemcpy. For those of page-locked memory a Wait follows.
        """
        if getattr(command, "is_pinned", False) or getattr(command, "direction", "within") != "within":
            return False
        if isinstance(command, cmd.CopyOut):
            return True
        if command.stream != DEFAULT_STREAM:
            return False
        if isinstance(command, cmd.CopyIn):
            return True
        sides = (command.source, command.destination) if isinstance(command, cmd.CopyWithin) else (command.address,)
        return any(map(self._is_open, sides))

    def _is_open(self, address: int) -> bool:
        """True for memory that the host can touch: managed or page-locked."""
        held = self._memory.at(address)
        asked = self._allocated.get(held.address) if held else None
        return asked is not None and not asked.is_undefined

    def _free(self, command: cmd.Free) -> None:
        """Its addresses will be others'. What the host waits for before it, it says itself."""
        self._freed = [freed for freed in self._freed if freed.allocation.address != command.address]
        asked = self._allocated.pop(command.address, None)
        for between in self._between.values() if asked else ():
            between.forget_bytes(command.address, asked.nbytes)

    def _wait(self, command: cmd.Wait) -> None:
        if command.stream != cmd.HOST:
            self._ends_with_launch.discard(command.stream)
            if command.event == cmd.EVERYTHING:
                self._order.wait_for_all(command.stream)
            else:
                self._order.wait(command.event, command.stream)
        elif command.event != cmd.EVERYTHING:
            self._host_waits(self._order.host_waits_for_event, command.event)
        elif command.of == cmd.EVERY_STREAM:
            self._host_waits(self._order.host_waits_for_all)
        elif command.of != cmd.NO_STREAM:
            self._host_waits(self._order.host_waits_for_stream, command.of)

    def _host_waits(self, wait, *of_what: int) -> None:
        wait(*of_what)
        for between in self._between.values():
            between.forget(self._order.is_known_to_host)
        self._nodes = {}


def waits_for_grids(module: LoadedModule) -> bool:
    """True for a module with code that waits for the launches before its own (griddepcontrol.wait)."""
    return bool(np.isin(module.code["opcode"], _GRID_WAITS).any())


def _called(command: cmd.Command) -> str:
    what = COPIES[type(command)]
    return f"{what} {WITHIN[command.direction]}" if isinstance(command, cmd.CopyWithin) else what


def _bytes_of(command: cmd.Command) -> np.ndarray:
    if isinstance(command, cmd.CopyIn):
        return run_of_bytes(command.address, len(command.data), WRITES)
    if isinstance(command, cmd.CopyOut):
        return run_of_bytes(command.address, command.nbytes, 0)
    if isinstance(command, cmd.Fill):
        return run_of_bytes(command.address, command.nbytes, WRITES)
    to, source, nbytes = command.destination, command.source, command.nbytes
    written = run_of_bytes(to, nbytes, WRITES)
    before = run_of_bytes(source, max(min(nbytes, to - source), 0) if source <= to else 0, 0)
    if source > to:
        rest = max(source, to + nbytes)
        before = run_of_bytes(rest, source + nbytes - rest, 0)
    parts = (before, written) if source <= to else (written, before)
    return np.concatenate(parts)


def _stream_text(stream: int) -> str:
    return f"stream {stream}" if stream else "the default stream"


def _thread_text(did: Did, thread: int) -> str:
    if did.kernel is None:
        return did.text
    return f"{thread_text(did.kernel, _who(did.kernel, thread))} of {did.text}"


def _who(kernel: Kernel, thread: int) -> GridThread:
    return GridThread(*divmod(thread, kernel.threads_per_block))


def _finding(conflict: Conflict) -> Finding:
    """The finding of the second command, or of the first where the second is a copy."""
    text = text_of(conflict, _thread_text)
    sides = [(conflict.second, conflict.second_at, conflict.second_thread),
             (conflict.first, conflict.first_at, conflict.first_thread)]  # fmt: skip
    launches = [side for side in sides if side[0].kernel is not None]
    if not launches:
        return Finding(conflict.kind, "error", text, address=conflict.address)
    (did, _, thread), *others = launches
    kernel, who = did.kernel, _who(did.kernel, thread)
    pcs = [side.kernel.instructions[number].pc for side, number, _ in launches if number != NO_INSTRUCTION]
    if others and others[0][0].kernel.code is not kernel.code:
        text += f"; the other access is at {place_of(others[0][0].kernel, pcs[1])}"
    held = kernel.allocation_at(conflict.address)
    return Finding(conflict.kind, "error", text, pc=pcs[0], other_pc=pcs[1] if others else -1, block=who.block,
                   warp=who.thread // WARP, thread=who.thread, address=conflict.address,
                   allocation=held.name if held else "")  # fmt: skip
