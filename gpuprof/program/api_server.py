"""Serves a program's calls: each by its method, with its errors, its place and its time."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.errors import DeviceMemoryError, GpuprofError, KernelFault
from gpuprof.isa.program import Function, Program
from gpuprof.program import errors
from gpuprof.program.api.launches import Launches
from gpuprof.program.api.memory import Memory
from gpuprof.program.api.modules import USUAL_SHARED_NBYTES, Modules
from gpuprof.program.api.streams import Streams
from gpuprof.program.api_calls import Calls
from gpuprof.program.api_table import PAGE, refusal
from gpuprof.program.arena import Arena
from gpuprof.program.build import Executable
from gpuprof.program.calls import BY_COMMANDS, FREE
from gpuprof.program.channel import NOWHERE, Origin, Reply, Request
from gpuprof.program.errors import Failed
from gpuprof.program.launch_choice import ALL_LAUNCHES, LaunchChoice
from gpuprof.program.line_table import Places
from gpuprof.program.tasks import ProgramTasks


class TimeNotices(NamedTuple):
    """Sentences for the user: when the program reads a clock of the host after a launch, and when it first asks for the
    time between two events.
    """

    clock: str = ""
    event: str = ""


NO_NOTICES = TimeNotices()


class ApiServer:
    """Serves one program's calls. `fault`: what ended its context, None as long as it lives."""

    def __init__(
        self,
        device: Device,
        arena: Arena,
        executable: Executable,
        code: Sequence[Program],
        *,
        blocks_per_sm: Callable[[Chip, Function, int, int], int],
        notice: Callable[[str], None],
        reports_writes: bool = False,
        choice: LaunchChoice = ALL_LAUNCHES,
        lists_calls: bool = False,
        notices: TimeNotices = NO_NOTICES,
    ):
        """code: of each of the executable's modules; one where they are linked. blocks_per_sm: by kernel, threads and
        bytes of dynamic shared memory of a block; it raises UsageError for a block that fits on no SM. notice: shows a
        sentence to the user. reports_writes: writes of the host to memory that is open to it become commands, so that a
        stream of them can be replayed. choice: which launches are timed. lists_calls: calls become tasks.
        notices: of times that the program reads.
        """
        self.device, self.arena, self._notice = device, arena, notice
        self.fault: KernelFault | None = None
        self.places = Places(executable.path, executable.library_file)
        self._reported: set[str] = set()
        self._last_text = ""  # of a call that failed
        self._notices = notices
        self._unsupported: set[str] = set()  # places where that was reported
        self._tasks = ProgramTasks(device.submit)
        self._calls = Calls(device.submit, self.places, self._tasks) if lists_calls else None
        self._origin = NOWHERE  # of the request that is served
        self._whole: Origin | None = None  # of the call of several messages that is under way
        self._has_cost = False  # what it has asked so far costs the host something
        self._streams = Streams(device)
        modules = Modules(device, executable, code)
        memory = Memory(device, arena, self._streams, reports_writes)
        self._launches = Launches(device, modules, memory, self._streams, choice, blocks_per_sm)
        self._handlers = self._table(modules, memory, self._launches, self._streams)

    def _table(self, modules: Modules, memory: Memory, launches: Launches, streams: Streams) -> dict[str, Callable]:
        """The handler of each call. It takes the payload, and the words by their names in `calls`; it gives words and
        payload of the reply.
        """
        return {
            "place": modules.place,
            "module": modules.module,
            "module_image": modules.module_image,
            "check_image": modules.check_image,
            "link_images": modules.link_images,
            "last_text": self._last_text_of_call,
            "function": modules.function,
            "kernels": modules.kernels,
            "variable": modules.variable,
            "allocate": memory.allocate,
            "allocate_later": memory.allocate_later,
            "free": memory.free,
            "free_later": memory.free_later,
            "reserve": memory.reserve,
            "unreserve": memory.unreserve,
            "map": memory.map,
            "unmap": memory.unmap,
            "copy_in": memory.copy_in,
            "copy_out": memory.copy_out,
            "staged_in": memory.staged_in,
            "staged_out": memory.staged_out,
            "copy_within": memory.copy_within,
            "write_word": memory.write_word,
            "read_word": memory.read_word,
            "begin_rows": memory.begin_rows,
            "end_rows": memory.end_rows,
            "begin_graph": launches.begin_graph,
            "end_graph": launches.end_graph,
            "symbol_copy": _cost_alone,
            "instantiate": _cost_alone,
            "update_graph": _cost_alone,
            "fill": memory.fill,
            "fill_words": memory.fill_words,
            "prefetch": memory.prefetch,
            "advise": memory.advise,
            "host_touches": memory.host_touches,
            "make_image": memory.make_image,
            "memory": memory.memory,
            "synchronize": memory.synchronize,
            "host_function": memory.host_function,
            "launch": launches.launch,
            "not_launched": launches.not_launched,
            "error_seen": launches.error_seen,
            "not_supported": self._not_supported,
            "shared_limit": launches.shared_limit,
            "occupancy": launches.occupancy,
            "shared_available": launches.shared_available,
            "clusters": launches.clusters,
            "profile": launches.profile,
            "make_stream": streams.make_stream,
            "destroy_stream": streams.destroy_stream,
            "make_event": streams.make_event,
            "record": streams.record,
            "wait": streams.wait,
            "event_time": self._event_time,
            "reset": self._reset,
            "refuse": self._refuse,
            "lack": self._lack,
            "begin_call": self._begin_call,
            "end_call": self._end_call,
            "read_clock": self._read_clock,
            "begin_task": self._begin_task,
            "end_task": self._end_task,
            "last_task": self._last_task,
            "relate": self._relate,
            "parameter": self._parameter,
            "properties": self._properties,
        }

    def serve(self, request: Request) -> Reply:
        """Carries a call out. Errors of ours become CUDA's; each is reported once."""
        if request.origin.host_ns > self.device.executor.host_ns:
            self.device.submit(cmd.HostTime(request.origin.host_ns))
        is_part = request.origin.is_part or not request.call.is_listed
        if not self._calls or is_part or self._calls.is_open:
            return self._served(request)
        return self._calls.one(request.origin, partial(self._served, request))

    def _served(self, request: Request) -> Reply:
        """The program's clock continues from its call's beginning to where the session's is."""
        waited_ns = self._streams.waited_ns
        reply = self._carried_out(request)
        if reply.status == 0:
            self._charge(request)
        if self._calls:
            self._calls.note(self._streams.waited_ns - waited_ns, request.nbytes if reply.status == 0 else 0)
        host_ns = self.device.executor.host_ns - request.origin.host_ns
        return Reply(reply.status, reply.words, reply.payload, host_ns)

    def _charge(self, request: Request) -> None:
        """Charges what a call costs the host besides its commands. Of several messages, only those count that have a
        cost of their own; see _end_call.
        """
        cost, is_part = request.call.cost, request.origin.is_part
        if cost == FREE or (is_part and cost == "other"):
            return
        self._has_cost = True
        if cost != BY_COMMANDS:
            self.device.submit(cmd.HostCall(cost, request.named_words.get("n", 1)))

    def _carried_out(self, request: Request) -> Reply:
        self._origin = self._placed(request.origin)
        try:
            words, payload = self._handlers[request.call.name](request.payload, **request.named_words)
        except Failed as failure:
            self._notify(failure.text)
            if failure.status == errors.NOT_SUPPORTED and failure.text:
                self._unsupported.add(self.place_of_call())
            return Reply(failure.status)
        except KernelFault as fault:
            self.fault = fault
            self._notify(str(fault))
            return Reply(errors.number_of(fault))
        except DeviceMemoryError as error:
            if not error.is_reported:
                self._notify(str(error))
            return Reply(errors.number_of(error))
        except GpuprofError as error:
            self._notify(str(error))
            return Reply(errors.number_of(error))
        return Reply(0, words, payload)

    def _last_text_of_call(self, payload: bytes, most_nbytes: int):
        return (), self._last_text.encode("utf-8", "replace")[:most_nbytes]

    def _notify(self, text: str) -> None:
        """With the call and its line; each of a place once."""
        self._last_text = text
        whole = ": ".join(each for each in (self.place_of_call(), text) if each)
        if text and whole not in self._reported:
            self._reported.add(whole)
            self._notice(whole)

    def place_of_call(self) -> str:
        """The line and the call that is served, as far as they are known: "app.cu:15: cudaFree"."""
        position, function = self.places.line(self._origin.caller), self.places.function(self._origin.function)
        return ": ".join(each for each in (str(position), function) if each)

    @property
    def unchecked(self) -> str:
        """A kernel that was not launched for want of its code, if the program has not requested the error since."""
        return self._launches.unchecked

    def _not_supported(self, payload: bytes):
        """Says so, unless the reason has been said at this place."""
        if self.place_of_call() not in self._unsupported:
            self._notify("gpuprof does not support this: cudaErrorNotSupported")
        return (), b""

    def _read_clock(self, payload: bytes):
        if self._notices.clock:
            self._notice(self._notices.clock)
        return (), b""

    def _event_time(self, payload: bytes, start: int, end: int):
        notice, self._notices = self._notices.event, self._notices._replace(event="")
        if notice:
            self._notice(notice)
        return self._streams.event_time(payload, start, end)

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

    def _refuse(self, name: bytes):
        """The program has requested a function by its name."""
        self._unsupported.add(self.place_of_call())
        self._notify(refusal((name.decode("utf-8", "replace"),)))
        return (), b""

    def _placed(self, origin: Origin) -> Origin:
        """A part of a call is where the call is."""
        if not origin.is_part or not self._whole:
            return origin
        return origin._replace(caller=self._whole.caller, function=self._whole.function)

    def _lack(self, what: bytes):
        """The call that is served wants what gpuprof does not have."""
        self._unsupported.add(self.place_of_call())
        self._notify(f"gpuprof does not have {what.decode('utf-8', 'replace')} ({PAGE})")
        return (), b""

    def _begin_call(self, payload: bytes):
        self._whole, self._has_cost = self._origin, False
        if self._calls:
            self._calls.begin(self._origin)
        return (), b""

    def _end_call(self, payload: bytes):
        if self._whole and not self._has_cost:
            self.device.submit(cmd.HostCall())
        self._whole = None
        if self._calls and self._calls.is_open:
            self._calls.end(self.device.executor.host_ns, 0)
        return (), b""

    def _reset(self, payload: bytes):
        self.fault = None
        return (), b""

    def _properties(self, payload: bytes):
        return properties(self.device.chip, self.arena.nbytes)


def _cost_alone(payload: bytes, n: int = 1):
    """Serves a call that the library carries out by itself: it only takes time."""
    return (), b""


def properties(chip: Chip, memory_nbytes: int) -> tuple[tuple[int, ...], bytes]:
    """Words and payload of the reply about the device. `memory_nbytes`: its memory."""
    digits = "".join(filter(str.isdigit, chip.arch))
    words = (
        memory_nbytes, min(USUAL_SHARED_NBYTES, chip.max_shared_nbytes_per_block),
        chip.max_shared_nbytes_per_block, chip.shared_nbytes, chip.registers, chip.registers,
        chip.max_threads_per_block, chip.warp_slots * 32, chip.max_blocks, chip.sms, round(chip.clock_mhz * 1e3),
        # Of a bus of 8 bits a channel and cycle, twice a cycle: what programs make of both is the bandwidth.
        round(chip.dram_gbytes_per_s * 1e6 / (2 * chip.dram_channels)), 8 * chip.dram_channels, chip.l2_nbytes,
        int(digits[:-1]), int(digits[-1]),
    )  # fmt: skip
    return words, f"gpuprof {chip.name}".encode()
