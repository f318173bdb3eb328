"""Runs a saved command stream again, on a GPU of its own: the same modules, the same initial memory, the same launches.

    recording with a stream ─ stream.read ─> SavedStream ─ replay ─> commands ─ Session ─> another recording

Chip, sampling and load bases may be others. The stream comes from a file, and nothing in it is believed.
"""

import os
from typing import Any

from gpuprof.device import commands as cmd
from gpuprof.device.bind import parameter_nbytes
from gpuprof.device.images import check_image
from gpuprof.device.limits import check_dependent, check_limits, cluster_of
from gpuprof.device.load_map import PAGE_NBYTES
from gpuprof.errors import DeviceMemoryError, GpuprofError
from gpuprof.isa.gpubin import read_gpubin
from gpuprof.isa.program import Function, Program
from gpuprof.session import Session, Settings, open_session
from gpuprof.stream.codec import SavedCopyIn, SavedLaunch, SavedLoad
from gpuprof.stream.read import SavedStream
from gpuprof.timing.registers import registers

MOST_STREAMS = 1 << 31


def replay(stream: SavedStream, settings: Settings, saved_load_bases: bool = True) -> None:
    """Carries out the stream as `settings` say. `saved_load_bases`: modules lie where they lay; otherwise where the settings say.

    Raises FileFormatError for a damaged stream, UsageError for a launch that the chip cannot do, and what the kernels raise.
    """
    session = open_session(settings)
    session.memory.limit_nbytes = memory_limit_nbytes()
    player = _Player(stream, session, saved_load_bases)
    try:
        for command, failed in stream.commands():
            try:
                session.submit(player.command(command))
            except GpuprofError:
                if not failed:
                    raise
        session.finish()
    except BaseException:
        session.in_flight.drop()
        raise


def memory_limit_nbytes() -> int:
    """What a stream may allocate: half of the host's memory, so that a damaged one cannot take it all."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


class _Player:
    """Turns what was saved into commands of a session."""

    def __init__(self, stream: SavedStream, session: Session, saved_load_bases: bool):
        self.stream, self.session, self.saved_load_bases = stream, session, saved_load_bases
        self._events: set[int] = set()
        saved, wanted = registers(stream.header.sampling), registers(session.settings.sampling)
        self._given = {name for name in saved if saved[name] != wanted[name]}
        self._ways = {
            SavedLoad: self._load,
            SavedCopyIn: self._copy_in,
            SavedLaunch: self._launch,
            cmd.Fill: self._fill,
            cmd.SetSampler: self._set_sampler,
            cmd.MakeImage: self._make_image,
            cmd.Event: self._event,
            cmd.EventTime: self._event_time,
        }

    def command(self, saved: Any) -> cmd.Command:
        """Raises FileFormatError for what the stream cannot have saved."""
        way = self._ways.get(type(saved))
        command = way(saved) if way else saved
        if not cmd.HOST <= getattr(command, "stream", 0) < MOST_STREAMS:
            raise self.stream.damaged(f"there is no stream {command.stream}")
        return command

    def _load(self, saved: SavedLoad) -> cmd.Load:
        number = len(self.session.modules)
        if number >= len(self.stream.modules):
            raise self.stream.damaged(f"it loads module {number}, which the recording does not have")
        if saved.load_base <= 0 or saved.load_base % PAGE_NBYTES:
            raise self.stream.damaged(f"a module is loaded at 0x{saved.load_base:x}")
        module = self.stream.modules[number]
        program = read_gpubin(module.image, f"{self.stream.path}: module {number} ({module.fields['name']})")
        self.session.adopt(program, module.image)
        return cmd.Load(program, saved.load_base if self.saved_load_bases else None)

    def _copy_in(self, saved: SavedCopyIn) -> cmd.CopyIn:
        if saved.nbytes > self.session.memory.used_nbytes:
            raise DeviceMemoryError(f"cannot write {saved.nbytes} bytes at 0x{saved.address:x}: no allocation is so large")
        return cmd.CopyIn(saved.address, self.stream.content(saved.blocks, saved.nbytes), saved.stream)

    def _launch(self, saved: SavedLaunch) -> cmd.Launch:
        if not 0 <= saved.module < len(self.session.modules):
            raise self.stream.damaged(f"it launches {saved.symbol!r} of module {saved.module}, which is not loaded")
        module, chip = self.session.modules[saved.module], self.session.chip
        function = self._kernel(module.program, saved.symbol)
        check_limits(function, saved.grid, saved.block, saved.dynamic_shared_nbytes, chip)
        check_dependent(function, saved.dependent, saved.stream, chip)
        if len(saved.params) != parameter_nbytes(function):
            raise self.stream.damaged(
                f"{function.display} has {parameter_nbytes(function)} bytes of parameters, and {len(saved.params)} are given"
            )
        return cmd.Launch(
            self.session.n_launches,
            module,
            function,
            saved.grid,
            saved.block,
            saved.dynamic_shared_nbytes,
            saved.params,
            saved.stream,
            saved.name,
            cluster_of(function, saved.grid, saved.cluster, chip),
            saved.dependent,
        )

    def _kernel(self, program: Program, symbol: str) -> Function:
        for function in program.functions:
            if function.name == symbol and function.is_kernel:
                return function
        raise self.stream.damaged(f"{program.name} has no kernel {symbol!r}")

    def _fill(self, saved: cmd.Fill) -> cmd.Fill:
        if not saved.pattern or saved.nbytes % len(saved.pattern):
            raise self.stream.damaged(f"a fill of {saved.nbytes} bytes has a pattern of {len(saved.pattern)}")
        return saved

    def _set_sampler(self, saved: cmd.SetSampler) -> cmd.SetSampler:
        """What the settings say otherwise than the saved run goes before what its script set."""
        return cmd.SetSampler(tuple((name, value) for name, value in saved.registers if name not in self._given))

    def _make_image(self, saved: cmd.MakeImage) -> cmd.MakeImage:
        if not check_image(saved.image):
            raise self.stream.damaged(f"{saved.image.name!r} is no image")
        return saved

    def _event(self, saved: cmd.Event) -> cmd.Event:
        self._events.add(saved.event)
        return saved

    def _event_time(self, saved: cmd.EventTime) -> cmd.EventTime:
        if saved.event not in self._events:
            raise self.stream.damaged(f"it asks for the time of event {saved.event}, which it has not recorded")
        return saved
