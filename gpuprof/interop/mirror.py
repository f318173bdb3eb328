"""Arguments of one launch: its host arrays in device memory, and the bytes of its parameters.

A kernel of Triton or Numba is given strides, so a view, a transposed matrix and two arrays that overlap must have the
same distances in device memory as on the host. The memory between an array's first and last byte is therefore copied,
and arrays whose memory overlaps share one copy. A view keeps its offset from the array it was cut out of, modulo the
alignment: compilers specialise kernels on that.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gpuprof.device import commands as cmd
from gpuprof.device.array import type_text
from gpuprof.device.launching.argument_values import Raw
from gpuprof.device.launching.bind import ArrayValue, Value
from gpuprof.device.memory import ALIGNMENT
from gpuprof.device.streams import Submit
from gpuprof.errors import UsageError
from gpuprof.isa.program import Param


class HostArray(NamedTuple):
    """A numpy array and its name in messages."""

    name: str
    array: np.ndarray


@dataclass
class _Span:
    """Host memory from `start` to `end` (addresses), and where its copy is."""

    start: int
    end: int
    arrays: list[HostArray]
    # of its first array among the arguments: what is allocated first must not depend on the host's addresses
    order: int
    allocated: int = 0
    address: int = 0
    before: bytes = field(default=b"", repr=False)  # the bytes that were copied in

    @property
    def is_writeable(self) -> bool:
        return any(host.array.flags.writeable for host in self.arrays)


class Mirror:
    """Copies arrays in when made; `addresses` are the arrays' in device memory; `copy_back`, then `release`."""

    def __init__(self, submit: Submit, hosts: Sequence[HostArray]):
        for host in hosts:
            _check(host)
        self._submit = submit
        self._spans = _merged([_span(host, order) for order, host in enumerate(hosts)])
        for span in self._spans:
            self._copy_in(span)
        self.addresses = [self._address(host.array) for host in hosts]

    def copy_back(self) -> None:
        """Copies the kernel's writes into the host's memory. Raises UsageError when it wrote to an array that is
        read-only.
        """
        for span in self._spans:
            after = self._submit(cmd.CopyOut(span.address, span.end - span.start))
            if after == span.before:
                continue
            if not span.is_writeable:
                host = span.arrays[0]
                raise UsageError(f"{host.name}: the kernel wrote to this read-only array; pass a copy")
            ctypes.memmove(span.start, after, len(after))

    def release(self) -> None:
        """Frees the copies."""
        for span in self._spans:
            self._submit(cmd.Free(span.allocated))
        self._spans = []

    def _copy_in(self, span: _Span) -> None:
        phase = (span.start - _owner_start(span.arrays[0].array)) % ALIGNMENT
        names = ", ".join(f"{name} {type_text(array.dtype, array.shape)}" for name, array in span.arrays)
        span.allocated = self._submit(cmd.Allocate(phase + span.end - span.start, names)).address
        span.address = span.allocated + phase
        span.before = ctypes.string_at(span.start, span.end - span.start)
        self._submit(cmd.CopyIn(span.address, span.before))

    def _address(self, array: np.ndarray) -> int:
        start = array.ctypes.data
        span = next(span for span in self._spans if any(host.array is array for host in span.arrays))
        return span.address + start - span.start


def _check(host: HostArray) -> None:
    kind = host.array.dtype
    if kind.hasobject:
        raise UsageError(
            f"{host.name}: an array of {kind} holds Python objects, which a GPU cannot hold; give it a numeric dtype"
        )
    if not kind.isnative:
        raise UsageError(
            f"{host.name}: its byte order is not a GPU's; pass array.astype({kind.newbyteorder('=').str!r})"
        )


def _span(host: HostArray, order: int) -> _Span:
    if host.array.size == 0:
        start = end = host.array.ctypes.data
    else:
        start, end = byte_bounds(host.array)
    return _Span(start, end, [host], order)


def _merged(spans: list[_Span]) -> list[_Span]:
    """Spans that overlap become one; in the order of the arguments."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if merged and span.start < merged[-1].end:
            merged[-1].end = max(merged[-1].end, span.end)
            merged[-1].arrays += span.arrays
            merged[-1].order = min(merged[-1].order, span.order)
        else:
            merged.append(span)
    return sorted(merged, key=lambda span: span.order)


def _owner_start(array: np.ndarray) -> int:
    """The start of the memory that a view was cut out of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.ctypes.data if array.size == 0 else byte_bounds(array)[0]


def value_of(param: Param, data: bytes, text: str) -> Value:
    """`data`, little-endian, for a parameter at least as wide. The assembler may take a 64-bit number, such as a
    stride, for a pointer.
    """
    if param.is_pointer:
        return ArrayValue(int.from_bytes(data, "little"), "", 0)
    return Raw(text, data.ljust(param.nbytes, b"\0"))
