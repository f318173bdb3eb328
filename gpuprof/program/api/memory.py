"""Device memory: allocations, copies, fills, and images over it."""

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
PLAIN = 0  # kind of an allocation that the host cannot touch


class Memory:
    def __init__(self, device: Device, arena: Arena, streams: Streams, reports_writes: bool):
        """`reports_writes`: the host's writes to memory that is open to it become commands."""
        self.device, self.arena, self._streams = device, arena, streams
        self._n_allocations = 0
        self._open = OpenMemory(device, arena) if reports_writes else None
        self._freed: list[int] = []  # in the order of streams: once all before it is done

    def allocate(self, name: bytes, nbytes: int, kind: int):
        text = f"{name.decode('utf-8', 'replace')} {self._n_allocations + 1}"
        try:
            address = self.device.submit(cmd.Allocate(nbytes, text, is_undefined=kind == PLAIN)).address
        except DeviceMemoryError as error:
            raise Failed(errors.MEMORY_ALLOCATION, "" if error.is_reported else str(error)) from None
        self._n_allocations += 1
        if self._open and kind != PLAIN:
            self._open.add(address, nbytes)
        return (address,), b""

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
        self.device.submit(cmd.Free(address))

    def copy_in(self, data: bytes | memoryview, address: int, stream: int):
        self.device.submit(cmd.CopyIn(address, data, self._streams.number(stream)))
        return (), b""

    def copy_out(self, payload: bytes, address: int, nbytes: int, stream: int):
        number = self._streams.number(stream)
        self._wait(cmd.Wait(cmd.EVERYTHING, cmd.HOST, of=number))
        return (), self.device.submit(cmd.CopyOut(address, nbytes, number))

    def staged_in(self, payload: bytes, address: int, nbytes: int, stream: int):
        return self.copy_in(self.arena.staging[: self._checked_staging(nbytes)], address, stream)

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
        for row in range(rows):
            self.device.submit(cmd.Fill(address + row * row_nbytes, nbytes, pattern, number))
        return (), b""

    def make_image(self, levels: bytes, **words: int):
        image, sampler = image_of(words, levels)
        return (pack_handle(self.device.submit(cmd.MakeImage(image)), sampler),), b""

    def copy_within(self, payload: bytes, to: int, from_: int, nbytes: int, stream: int):
        self.report_writes()
        self.device.submit(cmd.CopyWithin(to, from_, nbytes, self._streams.number(stream)))
        return (), b""

    def report_writes(self) -> None:
        if self._open:
            self._open.report()

    def fill(self, payload: bytes, address: int, nbytes: int, value: int, stream: int):
        self.device.submit(cmd.Fill(address, nbytes, bytes([value & 255]), self._streams.number(stream)))
        return (), b""

    def memory(self, payload: bytes):
        total = self.arena.nbytes
        return (total - self.arena.memory.used_nbytes, total), b""

    def synchronize(self, payload: bytes, waits: int, handle: int):
        self._wait(self._streams.waited_for(waits, handle))
        return (), b""

    def _wait(self, wait: cmd.Wait) -> None:
        """All that was asked is done, and so is what waited for that."""
        self._streams.pass_until(wait)
        freed, self._freed = self._freed, []
        for address in freed:
            self._release(address)
