"""Arguments of a numba.cuda launch as kernel parameters: numba's own layout
(numba.cuda.dispatcher._Kernel._prepare_args).

An array is meminfo and parent (null), number of elements, size of an element, address, extents, strides in bytes; a
tuple its parts one after the other; a complex number two floats; a record the address of its bytes.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba.cuda import types

from gpuprof.device.array import DeviceArray
from gpuprof.device.launching.bind import Value, check_count
from gpuprof.device.streams import Submit
from gpuprof.errors import UsageError
from gpuprof.interop.mirror import HostArray, Mirror, value_of
from gpuprof.isa.program import Function

_FLOATS = {types.float16: "<e", types.float32: "<f", types.float64: "<d"}
_COMPLEX = {types.complex64: "<ff", types.complex128: "<dd"}


class Arguments:
    """`with Arguments(...) as given`: its arrays are in device memory; `values` for the launch, `copy_back` after
    it.
    """

    def __init__(
        self,
        submit: Submit,
        names: list[str],
        kinds: Sequence[Any],
        arguments: Sequence[Any],
        extensions: list,
        stream: Any,
    ):
        self._write_back: list = []
        pairs = [self._extended(kind, value, extensions, stream) for kind, value in zip(kinds, arguments, strict=True)]
        self._names, self._pairs = names, pairs
        self._records: list[tuple[np.void, np.ndarray]] = []  # the user's record, its copy
        self._hosts = {
            id(value): self._host(value) for kind, value in self._parts() if not isinstance(value, DeviceArray)
        }
        labels = {id(value): name for name, (kind, value) in zip(names, pairs, strict=False)}
        hosts = [HostArray(labels.get(key, "an array in a tuple"), array) for key, array in self._hosts.items()]
        self._mirror = Mirror(submit, hosts)
        self._addresses = dict(zip(self._hosts, self._mirror.addresses, strict=True))

    def __enter__(self) -> "Arguments":
        return self

    def __exit__(self, *_) -> None:
        self._mirror.release()

    def copy_back(self) -> None:
        self._mirror.copy_back()
        for record, copy in self._records:
            for field in record.dtype.names:
                record[field] = copy[field]
        for done in self._write_back:
            done()

    def values(self, function: Function) -> list[Value]:
        """The parameters in order."""
        words = [
            word
            for name, (kind, value) in zip(self._names, self._pairs, strict=True)
            for word in self._words(name, kind, value)
        ]
        check_count(function, len(words))
        return [
            value_of(param, word, f"0x{word[::-1].hex()}") for param, word in zip(function.params, words, strict=True)
        ]

    def _extended(self, kind: Any, value: Any, extensions: list, stream: Any) -> tuple[Any, Any]:
        """An argument after numba's extensions for foreign types, and without cuda.In or cuda.Out."""
        for extension in reversed(extensions):
            kind, value = extension.prepare_args(kind, value, stream=stream, retr=self._write_back)
        return kind, value.value if type(value).__module__ == "numba.cuda.args" else value

    def _parts(self) -> Iterator[tuple[Any, Any]]:
        """The arguments that are memory, those in tuples too."""
        todo = list(self._pairs)
        for kind, value in todo:
            if isinstance(kind, types.BaseTuple):
                todo += zip(kind, value, strict=True)
            elif isinstance(kind, types.Array | types.Record):
                yield kind, value

    def _host(self, value: Any) -> np.ndarray:
        if isinstance(value, np.void):
            self._records.append((value, np.array(value)))
            return self._records[-1][1]
        if isinstance(value, np.ndarray):
            return value
        raise UsageError(f"expected an array, got a {type(value).__name__}")

    def _words(self, name: str, kind: Any, value: Any) -> Iterator[bytes]:
        if isinstance(kind, types.Array):
            yield from self._array(value)
        elif isinstance(kind, types.Record):
            yield struct.pack("<Q", self._addresses[id(value)])
        elif isinstance(kind, types.BaseTuple):
            for number, (part, item) in enumerate(zip(kind, value, strict=True)):
                yield from self._words(f"{name}[{number}]", part, item)
        elif isinstance(kind, types.EnumMember):
            yield from self._words(name, kind.dtype, value.value)
        elif isinstance(kind, types.NPDatetime | types.NPTimedelta):
            yield value.view(np.int64).tobytes()
        else:
            yield from _number(name, kind, value)

    def _array(self, array: np.ndarray | DeviceArray) -> Iterator[bytes]:
        on_device = isinstance(array, DeviceArray)
        address = array.address if on_device else self._addresses[id(array)]
        strides = np.empty((0,), array.dtype).strides if array.ndim == 0 else _strides(array)
        for word in (0, 0, array.size, array.dtype.itemsize, address, *array.shape, *(strides if array.ndim else ())):
            yield struct.pack("<q", word)


def _strides(array: np.ndarray | DeviceArray) -> tuple[int, ...]:
    if isinstance(array, np.ndarray):
        return array.strides
    return tuple(int(np.prod(array.shape[axis + 1 :])) * array.dtype.itemsize for axis in range(array.ndim))


def _number(name: str, kind: Any, value: Any) -> Iterator[bytes]:
    if kind in _FLOATS:
        yield struct.pack(_FLOATS[kind], value)
    elif kind in _COMPLEX:
        first, second = _COMPLEX[kind][:2], "<" + _COMPLEX[kind][2]
        yield struct.pack(first, complex(value).real)
        yield struct.pack(second, complex(value).imag)
    elif isinstance(kind, types.Integer):
        yield (int(value) & (1 << kind.bitwidth) - 1).to_bytes(kind.bitwidth // 8, "little")
    elif isinstance(kind, types.Boolean):
        yield bytes([bool(value)])
    elif isinstance(kind, types.CPointer):
        yield struct.pack("<Q", value)
    else:
        raise UsageError(f"{name}: gpuprof cannot pass a kernel a value of numba's type {kind}")
