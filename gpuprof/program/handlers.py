"""What each call of a program does: one method a call, named as in `calls`."""

import struct
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol

from gpuprof.chips import Chip
from gpuprof.compile.module import PtxModule
from gpuprof.compile.ptxfile import module_of_ptx
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.device.module import LoadedModule
from gpuprof.device.streams import Event
from gpuprof.errors import DeviceMemoryError, GpuprofError, KernelFault, UsageError
from gpuprof.isa.handles import pack_handle
from gpuprof.isa.program import Function
from gpuprof.program import errors, fatbin
from gpuprof.program.api_calls import Calls
from gpuprof.program.arena import Arena
from gpuprof.program.build import module_number
from gpuprof.program.channel import NOWHERE, Reply, Request
from gpuprof.program.choice import ALL_LAUNCHES, Chooser, LaunchChoice
from gpuprof.program.costs import cost_ns
from gpuprof.program.images import image_of
from gpuprof.program.open_memory import OpenMemory
from gpuprof.program.places import Places
from gpuprof.program.tasks import ProgramTasks

PLAIN = 0  # kind of an allocation that the host cannot touch
FIRST_STREAM = 16  # handles below it are CUDA's own: the default stream by its three names
USUAL_SHARED_NBYTES = 48 << 10  # a block's, unless cudaFuncSetAttribute allows more (CUDA C++ Programming Guide)
PARAM = struct.Struct("<II")
COOPERATIVE, DEPENDENT = 1, 2  # of a launch's flags
BETWEEN = ("copy_in", "copy_out", "staged_in", "staged_out")  # host and device


class Services(Protocol):
    """What the program's room does not do itself."""

    def blocks_per_sm(self, chip: Chip, function: Function, threads: int, shared_nbytes: int) -> int:
        """How many blocks of a kernel an SM holds. Raises UsageError for a block that fits none."""

    def tell(self, text: str) -> None:
        """Shows a sentence to the user."""


class Known(NamedTuple):
    module: LoadedModule
    function: Function


class Failed(Exception):
    """A call fails with a cudaError; `text` says why to the user."""

    def __init__(self, status: int, text: str = ""):
        super().__init__(text)
        self.status, self.text = status, text


def signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


class Handlers:
    """Serves one program's calls. `fault`: what ended its context, None as long as it lives."""

    def __init__(
        self,
        device: Device,
        arena: Arena,
        modules: tuple[Path, ...],
        services: Services,
        places: Places,
        tells_writes: bool = False,
        choice: LaunchChoice = ALL_LAUNCHES,
        lists_calls: bool = False,
    ):
        """`tells_writes`: what the host writes to memory that is open to it becomes commands, so that a stream of them
        can be replayed. `choice`: which launches are timed. `lists_calls`: calls become tasks.
        """
        self.device, self.arena, self.modules, self.services = device, arena, modules, services
        self.fault: GpuprofError | None = None
        self._loaded: list[LoadedModule] = []
        self._functions: list[Known] = []
        self._shared_limits: dict[int, int] = {}
        self._streams: dict[int, int] = {0: 0, 1: 0, 2: 0}  # handle -> number
        self._events: list[Event] = []
        self._n_allocations = 0
        self._open = OpenMemory(device, arena) if tells_writes else None
        self._mark = device.event()
        self._gpu_ns = 0  # of GPU time that the host has waited for
        self._told: set[str] = set()
        self._tasks = ProgramTasks(device.submit)
        self.places = places
        self._calls = Calls(device.submit, places, self._tasks) if lists_calls else None
        self._origin = NOWHERE  # of the request that is served
        self._n_images = 0
        self._freed: list[int] = []  # in the order of streams: once all before it is done
        self._chooser = Chooser(choice)

    def serve(self, request: Request) -> Reply:
        """Carries a call out. Errors of ours become CUDA's; each is told once."""
        is_part = request.origin.is_part or not request.call.is_listed
        if not self._calls or is_part or self._calls.is_open:
            return self._served(request)
        with self._calls.one(request.origin) as call:
            reply = self._served(request)
            call.reply(reply)
        return reply

    def _served(self, request: Request) -> Reply:
        name, self._origin = request.call.name, request.origin
        waited_ns = self._gpu_ns
        try:
            words, payload = getattr(self, f"_{name}")(request.payload, *request.words)
        except Failed as failure:
            self._tell(failure.text)
            return Reply(failure.status)
        except KernelFault as fault:
            self.fault = fault
            self._tell(str(fault))
            return Reply(errors.number_of(fault))
        except GpuprofError as error:
            self._tell(str(error))
            return Reply(errors.number_of(error))
        waited_ns = self._gpu_ns - waited_ns
        if self._calls:
            self._calls.note(waited_ns, request.nbytes)
        return Reply(0, words, payload, cost_ns(name, request.nbytes if name in BETWEEN else 0) + waited_ns)

    def _tell(self, text: str) -> None:
        """With the call and its line; each of a place once."""
        place, function = self.places.line(self._origin.caller), self.places.function(self._origin.function)
        whole = ": ".join(each for each in (str(place), function, text) if each)
        if text and whole not in self._told:
            self._told.add(whole)
            self.services.tell(whole)

    def _wait(self, payload: bytes, event: int, stream: int):
        number = self._stream(stream)
        if self._event(event).query():  # CUDA: an event that was not recorded is not waited for
            self._event(event).wait(number)
        return (), b""

    # --- tasks ---

    def _begin_task(self, name: bytes, is_nested: int):
        return (self._tasks.begin(name.decode("utf-8", "replace"), self._origin.thread, bool(is_nested)),), b""

    def _end_task(self, payload: bytes, task: int):
        if not self._tasks.end(task):
            raise Failed(errors.INVALID_VALUE, f"there is no open task {task}")
        return (), b""

    def _last_task(self, payload: bytes):
        return (self._tasks.last(),), b""

    def _relate(self, kind: bytes, task: int, other: int, address: int):
        self._tasks.relate(kind.decode("utf-8", "replace"), task, other, address)
        return (), b""

    def _parameter(self, text: bytes, task: int):
        parts = text.decode("utf-8", "replace").split("\0", 2)
        if len(parts) < 3:
            raise Failed(errors.INVALID_VALUE, "a parameter has a name, a kind and a value")
        self._tasks.parameter(task, *parts)
        return (), b""

    # --- modules ---

    def _module_image(self, text: bytes):
        """PTX that the program brings itself."""
        name = f"PTX {self._n_images + 1} of the program"
        self._loaded.append(self.device.load_ptx(module_of_ptx(text.decode("utf-8", "replace"), name, Path(), ())))
        self._n_images += 1
        return (len(self._loaded) - 1,), b""

    def _module(self, key: bytes):
        if key.startswith(fatbin.MAGIC):
            program = self.device.executor.assemble(self._module_of_fatbin(key))
        else:
            program = self.device.executor.compile(self.modules[module_number(key, len(self.modules))])
        self._loaded.append(self.device.submit(cmd.Load(program)))
        return (len(self._loaded) - 1,), b""

    def _module_of_fatbin(self, data: bytes) -> PtxModule:
        arch = int("".join(filter(str.isdigit, self.device.chip.arch)))
        path = self.modules[0]
        return module_of_ptx(fatbin.ptx_of(data, arch), str(path), path.parent, ())

    def _function(self, symbol: bytes, module: int):
        name = symbol.decode("utf-8", "replace")
        loaded = self._module_of(module)
        function = next((each for each in loaded.program.functions if each.is_kernel and each.name == name), None)
        if function is None:
            raise Failed(errors.INVALID_DEVICE_FUNCTION, f"{loaded.program.name} has no kernel {name}")
        self._functions.append(Known(loaded, function))
        chip = self.device.chip
        most = min(function.max_threads or chip.max_threads_per_block, chip.max_threads_per_block)
        words = (
            len(self._functions) - 1, len(function.params), most, function.registers, function.shared_nbytes,
            function.local_nbytes, len(loaded.const_segment), USUAL_SHARED_NBYTES - function.shared_nbytes,
            int("".join(filter(str.isdigit, chip.arch))),
        )  # fmt: skip
        return words, b"".join(PARAM.pack(param.offset, param.nbytes) for param in function.params)

    def _variable(self, symbol: bytes, module: int):
        name = symbol.decode("utf-8", "replace")
        loaded = self._module_of(module)
        variable = next((each for each in loaded.program.variables if each.name == name), None)
        if variable is None:
            raise Failed(errors.INVALID_SYMBOL, f"{loaded.program.name} has no variable {name}")
        return (loaded.global_symbols[name], variable.nbytes), b""

    def _module_of(self, number: int) -> LoadedModule:
        if number >= len(self._loaded):
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no module {number}")
        return self._loaded[number]

    # --- memory ---

    def _allocate(self, name: bytes, nbytes: int, kind: int):
        text = f"{name.decode('utf-8', 'replace')} {self._n_allocations + 1}"
        try:
            address = self.device.submit(cmd.Allocate(nbytes, text, is_undefined=kind == PLAIN)).address
        except DeviceMemoryError as error:
            raise Failed(errors.MEMORY_ALLOCATION, str(error)) from None
        self._n_allocations += 1
        if self._open and kind != PLAIN:
            self._open.add(address, nbytes)
        return (address,), b""

    def _free(self, payload: bytes, address: int):
        self._wait_for_all()
        self._release(address)
        return (), b""

    def _free_later(self, payload: bytes, address: int):
        self._freed.append(address)
        return (), b""

    def _release(self, address: int) -> None:
        if self._open:
            self._open.remove(address)
        self.device.submit(cmd.Free(address))

    def _copy_in(self, data: bytes | memoryview, address: int, stream: int):
        self.device.submit(cmd.CopyIn(address, data, self._stream(stream)))
        return (), b""

    def _copy_out(self, payload: bytes, address: int, nbytes: int, stream: int):
        self._wait_for_all()
        return (), self.device.submit(cmd.CopyOut(address, nbytes, self._stream(stream)))

    def _staged_in(self, payload: bytes, address: int, nbytes: int, stream: int):
        return self._copy_in(self.arena.staging[: self._checked_staging(nbytes)], address, stream)

    def _staged_out(self, payload: bytes, address: int, nbytes: int, stream: int):
        self._checked_staging(nbytes)
        _, data = self._copy_out(payload, address, nbytes, stream)
        self.arena.staging[:nbytes] = data
        return (), b""

    def _checked_staging(self, nbytes: int) -> int:
        if nbytes > len(self.arena.staging):
            raise Failed(errors.INVALID_VALUE, f"{nbytes} bytes in the memory for copies")
        return nbytes

    def _fill_words(
        self, payload: bytes, address: int, nbytes: int, value: int, element_nbytes: int, row_nbytes: int, rows: int,
        stream: int,
    ):  # fmt: skip
        """Elements of 2 or 4 bytes, in rows of `nbytes`."""
        if element_nbytes not in (2, 4) or nbytes % element_nbytes:
            raise Failed(errors.INVALID_VALUE, f"elements of {element_nbytes} bytes in {nbytes}")
        number, pattern = self._stream(stream), value.to_bytes(8, "little")[:element_nbytes]
        for row in range(rows):
            self.device.submit(cmd.Fill(address + row * row_nbytes, nbytes, pattern, number))
        return (), b""

    def _make_image(self, levels: bytes, *words: int):
        image, sampler = image_of(words, levels)
        return (pack_handle(self.device.submit(cmd.MakeImage(image)), sampler),), b""

    def _copy_within(self, payload: bytes, to: int, source: int, nbytes: int, stream: int):
        self._tell_writes()
        self.device.submit(cmd.CopyWithin(to, source, nbytes, self._stream(stream)))
        return (), b""

    def _tell_writes(self) -> None:
        if self._open:
            self._open.tell()

    def _fill(self, payload: bytes, address: int, nbytes: int, value: int, stream: int):
        self.device.submit(cmd.Fill(address, nbytes, bytes([value & 255]), self._stream(stream)))
        return (), b""

    def _memory(self, payload: bytes):
        total = self.arena.nbytes
        return (total - self.arena.memory.used_nbytes, total), b""

    # --- launches ---

    def _launch(
        self, params: bytes, number: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int,
        shared_nbytes: int, stream: int, flags: int, cx: int, cy: int, cz: int,
    ):  # fmt: skip
        module, function = self._known(number)
        cluster, is_dependent = (cx, cy, cz) if cx and cy and cz else None, flags & DEPENDENT != 0
        config = LaunchConfig((gx, gy, gz), (bx, by, bz), shared_nbytes, self._stream(stream), cluster, is_dependent)
        if not all((*config.grid, *config.block)):
            raise Failed(errors.INVALID_CONFIGURATION, f"{function.display}{config}: an extent is 0")
        if shared_nbytes > self._shared_limit_of(number):
            raise Failed(
                errors.INVALID_VALUE,
                f"{function.display}{config}: {shared_nbytes} bytes of dynamic shared memory; more than "
                f"{self._shared_limit_of(number)} need cudaFuncSetAttribute(MaxDynamicSharedMemorySize)",
            )
        try:
            text = f"{function.display}{config}"
            launch = checked_launch(
                self.device.chip, self.device.executor.n_launches, module, function, config, params, text
            )
        except UsageError as error:
            raise Failed(errors.INVALID_CONFIGURATION, str(error)) from None
        if flags & COOPERATIVE:
            self._check_cooperative(number, launch)
        self._tell_writes()
        is_timed = self._chooser.wants((function.display, function.name))
        self.device.submit(launch if is_timed else replace(launch, is_timed=False))
        return (), b""

    def _check_cooperative(self, number: int, launch: cmd.Launch) -> None:
        chip = self.device.chip
        most = chip.sms * self._blocks(number, launch.threads_per_block, launch.dynamic_shared_nbytes)
        if launch.n_blocks > most:
            raise Failed(
                errors.COOPERATIVE_LAUNCH_TOO_LARGE,
                f"{launch.name}: {launch.n_blocks} blocks in a cooperative launch; {most} can be resident",
            )

    def _shared_limit(self, payload: bytes, number: int, nbytes: int):
        _, function = self._known(number)
        most = self.device.chip.max_shared_nbytes_per_block - function.shared_nbytes
        if not 0 <= signed(nbytes) <= most:
            raise Failed(errors.INVALID_VALUE, f"{function.display}: {signed(nbytes)} bytes of dynamic shared memory")
        self._shared_limits[number] = nbytes
        return (), b""

    def _occupancy(self, payload: bytes, number: int, threads: int, shared_nbytes: int):
        return (self._blocks(number, signed(threads), shared_nbytes),), b""

    def _blocks(self, number: int, threads: int, shared_nbytes: int) -> int:
        if threads <= 0:
            raise Failed(errors.INVALID_VALUE)
        try:
            return self.services.blocks_per_sm(self.device.chip, self._known(number).function, threads, shared_nbytes)
        except UsageError:
            return 0

    def _shared_limit_of(self, number: int) -> int:
        usual = USUAL_SHARED_NBYTES - self._functions[number].function.shared_nbytes
        return max(usual, self._shared_limits.get(number, 0))

    def _known(self, number: int) -> Known:
        if number >= len(self._functions):
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no kernel {number}")
        return self._functions[number]

    # --- streams and events ---

    def _make_stream(self, payload: bytes, priority: int):
        number = self.device.stream(signed(priority)).number
        self._streams[FIRST_STREAM + number] = number
        return (FIRST_STREAM + number,), b""

    def _destroy_stream(self, payload: bytes, stream: int):
        self._stream(stream)
        if stream >= FIRST_STREAM:
            del self._streams[stream]
        return (), b""

    def _synchronize(self, payload: bytes):
        self._wait_for_all()
        return (), b""

    def _make_event(self, payload: bytes):
        self._events.append(self.device.event())
        return (len(self._events),), b""

    def _record(self, payload: bytes, event: int, stream: int):
        self._event(event).record(self._stream(stream))
        return (), b""

    def _event_time(self, payload: bytes, start: int, end: int):
        cycles = [self._event(event).cycle for event in (start, end)]
        if None in cycles:
            raise Failed(errors.INVALID_RESOURCE_HANDLE, "the event was not recorded")
        return (self._nanoseconds(cycles[1]) - self._nanoseconds(cycles[0]),), b""

    def _profile(self, payload: bytes, is_on: int):
        self._chooser.is_profiling = bool(is_on)
        return (), b""

    def _begin_call(self, payload: bytes):
        if self._calls:
            self._calls.begin(self._origin)
        return (), b""

    def _end_call(self, payload: bytes):
        if self._calls and self._calls.is_open:
            self._calls.end(self._origin.host_ns, 0)
        return (), b""

    def _stream(self, handle: int) -> int:
        if handle not in self._streams:
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no stream {handle}")
        return self._streams[handle]

    def _event(self, handle: int) -> Event:
        if not 1 <= handle <= len(self._events):
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no event {handle}")
        return self._events[handle - 1]

    def _wait_for_all(self) -> None:
        """All that was asked is done; the host's made time has passed until then."""
        self._mark.record()
        self._gpu_ns = max(self._gpu_ns, self._nanoseconds(self._mark.cycle))
        freed, self._freed = self._freed, []
        for address in freed:
            self._release(address)

    def _nanoseconds(self, cycle: int) -> int:
        return round(cycle * 1e3 / self.device.chip.clock_mhz)

    # --- the device ---

    def _properties(self, payload: bytes):
        chip = self.device.chip
        digits = "".join(filter(str.isdigit, chip.arch))
        words = (
            self.arena.nbytes, min(USUAL_SHARED_NBYTES, chip.max_shared_nbytes_per_block),
            chip.max_shared_nbytes_per_block, chip.shared_nbytes, chip.registers, chip.registers,
            chip.max_threads_per_block, chip.warp_slots * 32, chip.max_blocks, chip.sms, round(chip.clock_mhz * 1e3),
            # Of a bus of 8 bits a channel and cycle, twice a cycle: what programs make of both is the bandwidth.
            round(chip.dram_gbytes_per_s * 1e6 / (2 * chip.dram_channels)), 8 * chip.dram_channels, chip.l2_nbytes,
            int(digits[:-1]), int(digits[-1]),
        )  # fmt: skip
        return words, f"gpuprof {chip.name}".encode()
