"""Device memory: allocations, copies, fills, and images over it."""

import struct
from collections.abc import Generator
from contextlib import contextmanager

from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.errors import DeviceMemoryError
from gpuprof.isa.handles import pack_handle
from gpuprof.program import errors
from gpuprof.program.api.streams import Streams
from gpuprof.program.arena import Arena
from gpuprof.program.errors import Failed
from gpuprof.program.images import image_of
from gpuprof.program.open_memory import OpenMemory

GRANULARITY_NBYTES = 2 << 20  # of virtual memory management
WORD = (1 << 32) - 1
# Kinds of allocations, as numbers of commands.MEMORIES: the host cannot touch it; it is the host's own, page-locked.
PLAIN, PINNED = 0, 2
RANGE = struct.Struct("<QQ")  # of memory, in a message: address and bytes
# By whether the source and the destination of a copy are page-locked. Managed memory counts as the device's.
DIRECTIONS = {(False, False): "within", (True, False): "in", (False, True): "out", (True, True): "host"}


class Memory:
    def __init__(self, device: Device, arena: Arena, streams: Streams, reports_writes: bool):
        """`reports_writes`: the host's writes to memory that is open to it become commands."""
        self.device, self.arena, self._streams = device, arena, streams
        self._n_allocations = 0
        self._open = OpenMemory(device, arena) if reports_writes else None
        self._pinned: set[int] = set()  # addresses of page-locked allocations
        self._n_rows = 0  # of the copy or fill of several rows that is under way, 0 where none is
        self._has_waited = False  # that one, for its stream
        self._freed: list[int] = []  # in the order of streams: once all before it is done

    def allocate(self, name: bytes, nbytes: int, kind: int):
        address = self._allocated(name, nbytes, kind)
        if kind == PINNED:
            self._pinned.add(address)
        if self._open and kind != PLAIN:
            self._open.add(address, nbytes)
        return (address,), b""

    def allocate_later(self, name: bytes, nbytes: int):
        return (self._allocated(name, nbytes, PLAIN, is_later=True),), b""

    def _allocated(self, name: bytes, nbytes: int, kind: int, is_later: bool = False) -> int:
        """The address of a new allocation."""
        text = f"{name.decode('utf-8', 'replace')} {self._n_allocations + 1}"
        try:
            made = self.device.submit(cmd.Allocate(nbytes, text, kind == PLAIN, is_later, cmd.MEMORIES[kind]))
        except DeviceMemoryError as error:
            raise Failed(errors.MEMORY_ALLOCATION, "" if error.is_reported else str(error)) from None
        self._n_allocations += 1
        return made.address

    def _is_pinned(self, address: int) -> bool:
        """True for page-locked memory of the host, registered memory among it."""
        held = self.arena.memory.at(address)
        return held is not None and held.address in self._pinned

    def free(self, payload: bytes, address: int):
        self._wait(cmd.Wait(cmd.EVERYTHING, cmd.HOST))
        self._release(address)
        return (), b""

    def free_later(self, payload: bytes, address: int, stream: int):
        self.device.submit(cmd.FreeLater(address, self._streams.number(stream)))
        self._freed.append(address)
        return (), b""

    def reserve(self, payload: bytes, nbytes: int, alignment: int):
        try:
            return (self.arena.memory.reserve(nbytes, max(alignment, GRANULARITY_NBYTES)),), b""
        except DeviceMemoryError as error:
            raise Failed(errors.MEMORY_ALLOCATION, str(error)) from None

    def unreserve(self, payload: bytes, address: int):
        self.arena.memory.unreserve(address)
        return (), b""

    def map(self, payload: bytes, address: int, nbytes: int):
        self.device.submit(cmd.Map(address, nbytes))
        return (), b""

    def unmap(self, payload: bytes, address: int, nbytes: int):
        self._wait(cmd.Wait(cmd.EVERYTHING, cmd.HOST))
        self.device.submit(cmd.Unmap(address, nbytes))
        return (), b""

    def _release(self, address: int) -> None:
        if self._open:
            self._open.remove(address)
        self._pinned.discard(address)
        self.device.submit(cmd.Free(address))

    def copy_in(self, data: bytes | memoryview, address: int, stream: int, is_waited: int):
        self.device.submit(cmd.CopyIn(address, data, self._streams.number(stream), is_waited=bool(is_waited)))
        return (), b""

    def copy_out(self, payload: bytes, address: int, nbytes: int, stream: int):
        number = self._streams.number(stream)
        if not (self._n_rows and self._has_waited):
            self._wait(cmd.Wait(cmd.EVERYTHING, cmd.HOST, of=number))
        self._has_waited = True
        return (), self.device.submit(cmd.CopyOut(address, nbytes, number))

    def staged_in(self, payload: bytes, address: int, nbytes: int, stream: int, is_waited: int):
        return self.copy_in(self.arena.staging[: self._checked_staging(nbytes)], address, stream, is_waited)

    def staged_out(self, payload: bytes, address: int, nbytes: int, stream: int):
        self._checked_staging(nbytes)
        _, data = self.copy_out(payload, address, nbytes, stream)
        self.arena.staging[:nbytes] = data
        return (), b""

    def _checked_staging(self, nbytes: int) -> int:
        if nbytes > len(self.arena.staging):
            raise Failed(errors.INVALID_VALUE, f"{nbytes} bytes in the memory for copies")
        return nbytes

    def fill_words(
        self, payload: bytes, address: int, nbytes: int, value: int, element_nbytes: int, row_nbytes: int, rows: int,
        stream: int,
    ):  # fmt: skip
        """Elements of 2 or 4 bytes, in rows of `nbytes`."""
        if element_nbytes not in (2, 4) or nbytes % element_nbytes:
            raise Failed(errors.INVALID_VALUE, f"elements of {element_nbytes} bytes in {nbytes}")
        number, pattern = self._streams.number(stream), value.to_bytes(8, "little")[:element_nbytes]
        with self._together(rows):
            for row in range(rows):
                self.device.submit(cmd.Fill(address + row * row_nbytes, nbytes, pattern, number))
        return (), b""

    @contextmanager
    def _together(self, rows: int) -> Generator[None]:
        """The requests within it are one fill of so many rows."""
        if rows > 1:
            self.device.submit(cmd.Together("copy", rows))
        try:
            yield
        finally:
            if rows > 1:
                self.device.submit(cmd.TogetherEnd())

    def begin_rows(self, payload: bytes, n: int):
        """The requests that follow are one copy or fill of n rows."""
        self._n_rows, self._has_waited = n, False
        self.device.submit(cmd.Together("copy", n))
        return (), b""

    def end_rows(self, payload: bytes):
        self._n_rows = 0
        self.device.submit(cmd.TogetherEnd())
        return (), b""

    def write_word(self, payload: bytes, address: int, value: int, stream: int):
        """By the device: the host does not wait."""
        data = (value & WORD).to_bytes(4, "little")
        self.device.submit(cmd.CopyIn(address, data, self._streams.number(stream), is_pinned=True))
        return (), b""

    def read_word(self, payload: bytes, address: int, stream: int):
        data = self.device.submit(cmd.CopyOut(address, 4, self._streams.number(stream), is_pinned=True))
        return (int.from_bytes(data, "little"),), b""

    def make_image(self, levels: bytes, **words: int):
        image, sampler = image_of(words, levels)
        return (pack_handle(self.device.submit(cmd.MakeImage(image)), sampler),), b""

    def copy_within(self, payload: bytes, to: int, from_: int, nbytes: int, stream: int):
        self.report_writes()
        direction = DIRECTIONS[self._is_pinned(from_), self._is_pinned(to)]
        self.device.submit(cmd.CopyWithin(to, from_, nbytes, self._streams.number(stream), direction))
        return (), b""

    def report_writes(self) -> None:
        if self._open:
            self._open.report()

    def fill(self, payload: bytes, address: int, nbytes: int, value: int, stream: int):
        self.device.submit(cmd.Fill(address, nbytes, bytes([value & 255]), self._streams.number(stream)))
        return (), b""

    def prefetch(self, payload: bytes, address: int, nbytes: int, to_host: int, stream: int):
        self.device.submit(cmd.Prefetch(address, nbytes, bool(to_host), self._streams.number(stream)))
        return (), b""

    def advise(self, payload: bytes, address: int, nbytes: int, advice: int, is_on: int, to_host: int):
        if advice >= len(cmd.ADVICE):
            raise Failed(errors.INVALID_VALUE, f"there is no advice {advice}")
        self.device.submit(cmd.Advise(address, nbytes, cmd.ADVICE[advice], bool(is_on), bool(to_host)))
        return (), b""

    def host_touches(self, ranges: bytes):
        if len(ranges) % RANGE.size:
            raise Failed(errors.INVALID_VALUE, f"{len(ranges)} bytes of ranges")
        self.device.submit(cmd.HostTouch(tuple(RANGE.iter_unpack(ranges))))
        return (), b""

    def memory(self, payload: bytes):
        total = self.arena.nbytes
        return (total - self.arena.memory.used_nbytes, total), b""

    def synchronize(self, payload: bytes, waits: int, handle: int):
        self._wait(self._streams.waited_for(waits, handle))
        return (), b""

    def host_function(self, payload: bytes, stream: int):
        """The program calls it when this returns, so all before it is done; the program may not rely on that."""
        number = self._streams.number(stream)
        self._wait(cmd.Wait(cmd.EVERYTHING, cmd.HOST, cmd.NO_STREAM))
        self.device.submit(cmd.HostFunction(number))
        return (), b""

    def _wait(self, wait: cmd.Wait) -> None:
        """All that was asked is done, and so is what waited for that."""
        self._streams.pass_until(wait)
        freed, self._freed = self._freed, []
        for address in freed:
            self._release(address)
