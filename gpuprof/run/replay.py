"""Runs a saved command stream again, on a GPU of its own: the same modules, the same initial memory, the same launches.

    recording with a stream ─ saved.read ─> SavedStream ─ replay ─> commands ─ Session ─> another recording

Chip, sampling and load bases may be others. The stream comes from a file, and nothing in it is believed.
"""

import json
from dataclasses import replace
from typing import Any

from gpuprof.base.processes import host_memory_nbytes
from gpuprof.chips import Chip, described
from gpuprof.device import commands as cmd
from gpuprof.device.images import check_image
from gpuprof.device.launching.bind import parameter_nbytes
from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.device.load_map import PAGE_NBYTES
from gpuprof.device.memory import ALIGNMENT, AddressSpace
from gpuprof.device.module import LoadedModule
from gpuprof.errors import DeviceMemoryError, FileFormatError, GpuprofError, UsageError
from gpuprof.hosts import Host, described as described_host
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.program import Function, Program
from gpuprof.records.command_stream.codec import (
    SavedCopyIn,
    SavedDraw,
    SavedHostWrite,
    SavedLaunch,
    SavedLoad,
    SavedShader,
)
from gpuprof.records.command_stream.read import SavedStream
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import Session, open_session
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.control_registers import changed, registers

MOST_STREAMS = 1 << 31
MOST_NS = 1 << 53  # 104 days of the host's time
MOST_NODES = 1 << 40  # of a graph, and rows of a copy
MOST_ALIGNMENT = 1 << 21  # bytes: a large page of the host


def replay(
    stream: SavedStream,
    settings: Settings,
    *,
    saved_load_bases: bool = True,
    fixed: frozenset[str] | None = None,
    number: int = 0,
    of: int = 1,
) -> None:
    """Carries out the stream as `settings` say, as pass `number` of `of` passes.

    saved_load_bases: modules lie where they lay; otherwise where the settings say. fixed: registers of the sampler that
    stay as the settings have them, also where the stream sets them; None for those that are set otherwise than when it
    was recorded.
    Raises FileFormatError for a damaged stream, UsageError for a launch that the chip cannot do, and what the kernels
    raise.
    """
    settings = with_host(settings, stream)
    sampling = shifted(settings.sampling, number, of)
    session = open_session(replace(settings, sampling=sampling), memory=saved_memory(stream))
    if fixed is None:
        fixed = _changed_registers(stream.header.sampling, settings.sampling)
    player = Player(stream, session, saved_load_bases, Registers(settings.sampling, fixed, number, of))
    try:
        for command, failed in stream.commands():
            try:
                session.submit(player.command(command))
            except GpuprofError:
                if not failed:
                    raise
        session.finish()
        # Kernels compute the same on every chip: what was found of their results holds here, too.
        for result in stream.results if session.recorder else ():
            session.recorder.result(result)
    except BaseException:
        session.drop()
        raise


def saved_memory(stream: SavedStream) -> AddressSpace:
    """Memory in which the stream's allocations get the addresses that they had."""
    alignment = stream.header.alignment
    if alignment not in range(ALIGNMENT, MOST_ALIGNMENT + 1, ALIGNMENT):
        raise stream.damaged(f"allocations are aligned to {alignment} bytes")
    return AddressSpace(memory_limit_nbytes(), alignment=alignment, has_fixed_gaps=True)


def shifted(sampling: Sampling, number: int, of: int) -> Sampling:
    """The sampling of pass `number` of `of` passes: with another seed, and a part of the period later."""
    period = sampling.every or sampling.period_cycles
    if not number or not period:
        return sampling
    phase = (sampling.phase_cycles + number * period // of) % period
    return replace(sampling, seed=sampling.seed + number, phase_cycles=phase)


def _changed_registers(before: Sampling, after: Sampling) -> frozenset[str]:
    return frozenset(name for name, value in registers(before).items() if value != registers(after)[name])


def chip_of(stream: SavedStream) -> Chip:
    """The chip that the stream was recorded on. Raises FileFormatError when the recording describes none."""
    try:
        return described(stream.chip, f"{stream.path}: its chip")
    except UsageError as error:
        raise FileFormatError(str(error)) from None


def with_host(settings: Settings, stream: SavedStream) -> Settings:
    """The settings with the host that the stream was recorded with, where they name none and the chip is the same; no
    host, where launches were recorded without a program.
    """
    if not stream.header.host:
        return replace(settings, has_host=False)
    is_named = settings.host is not None or settings.host_name is not None
    if is_named or settings.chosen_chip() != chip_of(stream):
        return replace(settings, has_host=True)
    return replace(settings, has_host=True, host=_host_of(stream))


def _host_of(stream: SavedStream) -> Host:
    """Raises FileFormatError for what describes no host."""
    try:
        description = json.loads(stream.header.host)
    except (ValueError, RecursionError):
        description = None
    if not isinstance(description, dict):
        raise stream.damaged("its host is not an object of JSON")
    try:
        return described_host(description, f"{stream.path}: its host")
    except UsageError as error:
        raise FileFormatError(str(error)) from None


def memory_limit_nbytes() -> int:
    """The bytes that a stream may allocate: half of the host's memory, so that a damaged stream cannot take it all."""
    return host_memory_nbytes() // 2


class Registers:
    """The sampler's registers as the stream sets them, in a pass where some of them are fixed."""

    def __init__(self, sampling: Sampling, fixed: frozenset[str], number: int, of: int):
        self._sampling, self._fixed, self._number, self._of = sampling, fixed, number, of

    def command(self, saved: cmd.SetSampler) -> cmd.SetSampler:
        free = tuple((name, value) for name, value in saved.registers if name not in self._fixed)
        self._sampling = changed(self._sampling, free)
        if self._number == 0:
            return cmd.SetSampler(free)
        return cmd.SetSampler(tuple(registers(shifted(self._sampling, self._number, self._of)).items()))


class Player:
    """Turns what was saved into commands of a session."""

    def __init__(self, stream: SavedStream, session: Session, saved_load_bases: bool, sampler: Registers):
        self.stream, self.session, self.saved_load_bases = stream, session, saved_load_bases
        self._events: set[int] = set()
        self._together: list[str] = []  # what is open
        self._ways = {
            SavedLoad: self._load,
            SavedCopyIn: self._copy_in,
            SavedHostWrite: self._host_write,
            SavedLaunch: self._launch,
            SavedDraw: self._draw,
            cmd.Fill: self._fill,
            cmd.MakeImage: self._make_image,
            cmd.SetSampler: sampler.command,
            cmd.Event: self._event,
            cmd.EventTime: self._event_time,
            cmd.CopyWithin: self._copy_within,
            cmd.HostTime: self._host_time,
            cmd.HostCall: self._host_call,
            cmd.Together: self._begin_together,
            cmd.TogetherEnd: self._end_together,
        }

    def command(self, saved: Any) -> cmd.Command:
        """Raises FileFormatError for what the stream cannot have saved."""
        way = self._ways.get(type(saved))
        command = way(saved) if way else saved
        least = cmd.HOST if isinstance(command, cmd.Wait) else 0
        if not least <= getattr(command, "stream", 0) < MOST_STREAMS:
            raise self.stream.damaged(f"there is no stream {command.stream}")
        if not cmd.NO_STREAM <= getattr(command, "of", 0) < MOST_STREAMS:
            raise self.stream.damaged(f"there is no stream {command.of} to wait for")
        return command

    def _load(self, saved: SavedLoad) -> cmd.Load:
        number = len(self.session.modules)
        if number >= len(self.stream.modules):
            raise self.stream.damaged(f"it loads module {number}, which the recording does not have")
        if saved.load_base <= 0 or saved.load_base % PAGE_NBYTES:
            raise self.stream.damaged(f"a module is loaded at 0x{saved.load_base:x}")
        module = self.stream.modules[number]
        name = f"{self.stream.path}: module {number} ({module.fields['name']})"
        program = read_gpubin(module.image, name, remake="collect")
        self.session.adopt(program, module.image)
        return cmd.Load(program, saved.load_base if self.saved_load_bases else None, saved.placed)

    def _copy_in(self, saved: SavedCopyIn) -> cmd.CopyIn:
        return cmd.CopyIn(saved.address, self._content(saved), saved.stream, saved.is_pinned, saved.is_waited)

    def _host_write(self, saved: SavedHostWrite) -> cmd.HostWrite:
        return cmd.HostWrite(saved.address, self._content(saved))

    def _content(self, saved: SavedCopyIn | SavedHostWrite) -> bytes:
        if saved.nbytes > self.session.memory.used_nbytes:
            raise DeviceMemoryError(
                f"cannot write {saved.nbytes} bytes at 0x{saved.address:x}: no allocation is so large"
            )
        return self.stream.content(saved.blocks, saved.nbytes)

    def _launch(self, saved: SavedLaunch) -> cmd.Launch:
        module, function = self._loaded(saved)
        if len(saved.params) != parameter_nbytes(function):
            raise self.stream.damaged(
                f"{function.display} has {parameter_nbytes(function)} bytes of parameters, and {len(saved.params)} are "
                "given"
            )
        config = LaunchConfig(
            saved.grid,
            saved.block,
            saved.dynamic_shared_nbytes,
            saved.stream,
            saved.cluster,
            saved.dependent,
            saved.cache,
            saved.repeat,
        )
        launch = checked_launch(
            self.session.chip, self.session.n_launches, module, function, config, saved.params, saved.name
        )
        return replace(launch, is_timed=saved.is_timed)

    def _draw(self, saved: SavedDraw) -> cmd.Draw:
        """A draw that is impossible is refused when it is carried out."""
        shaders = tuple(map(self._shader, saved.shaders))
        return cmd.Draw(shaders, saved.buffers, saved.state, saved.targets, saved.name)

    def _shader(self, saved: SavedShader) -> cmd.Shader:
        return cmd.Shader(*self._loaded(saved), saved.params, saved.interface)

    def _loaded(self, saved: SavedLaunch | SavedShader) -> tuple[LoadedModule, Function]:
        if not 0 <= saved.module < len(self.session.modules):
            raise self.stream.damaged(f"it launches {saved.symbol!r} of module {saved.module}, which is not loaded")
        module = self.session.modules[saved.module]
        return module, self._kernel(module.program, saved.symbol)

    def _kernel(self, program: Program, symbol: str) -> Function:
        for function in program.functions:
            if function.name == symbol and function.is_kernel:
                return function
        raise self.stream.damaged(f"{program.name} has no kernel {symbol!r}")

    def _fill(self, saved: cmd.Fill) -> cmd.Fill:
        if not saved.pattern or saved.nbytes % len(saved.pattern):
            raise self.stream.damaged(f"a fill of {saved.nbytes} bytes has a pattern of {len(saved.pattern)}")
        return saved

    def _make_image(self, saved: cmd.MakeImage) -> cmd.MakeImage:
        if not check_image(saved.image):
            raise self.stream.damaged(f"{saved.image.name!r} is not an image")
        return saved

    def _copy_within(self, saved: cmd.CopyWithin) -> cmd.CopyWithin:
        if saved.direction not in cmd.COPY_DIRECTIONS:
            raise self.stream.damaged(f"a copy has the direction {saved.direction[:40]!r}")
        return saved

    def _host_time(self, saved: cmd.HostTime) -> cmd.HostTime:
        if not 0 <= saved.ns < MOST_NS:
            raise self.stream.damaged(f"the host's clock shows {saved.ns} ns")
        return saved

    def _host_call(self, saved: cmd.HostCall) -> cmd.HostCall:
        if saved.kind not in cmd.HOST_CALLS or not 0 <= saved.n < MOST_NODES:
            raise self.stream.damaged(f"the host makes the call {saved.kind[:40]!r} of {saved.n} nodes")
        return saved

    def _begin_together(self, saved: cmd.Together) -> cmd.Together:
        """Only a copy nests, in the launch of a graph."""
        may = cmd.TOGETHER if not self._together else ("copy",) if self._together == ["graph"] else ()
        if saved.what not in may or not 0 <= saved.n < MOST_NODES:
            raise self.stream.damaged(f"{saved.what[:40]!r} of {saved.n} begins where it cannot")
        self._together.append(saved.what)
        return saved

    def _end_together(self, saved: cmd.TogetherEnd) -> cmd.TogetherEnd:
        if not self._together:
            raise self.stream.damaged("what was not begun ends")
        self._together.pop()
        return saved

    def _event(self, saved: cmd.Event) -> cmd.Event:
        self._events.add(saved.event)
        return saved

    def _event_time(self, saved: cmd.EventTime) -> cmd.EventTime:
        if saved.event not in self._events:
            raise self.stream.damaged(f"it asks for the time of event {saved.event}, which it has not recorded")
        return saved
