"""Arguments of a launch in the form of Triton: numpy arrays and torch CPU tensors become objects with a device address.

They are copied in before the launch and back after it. Numbers of numpy become Python's; everything else stays as it
is.
"""

import dataclasses
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.array import DeviceArray, type_text
from gpuprof.device.streams import Submit
from gpuprof.errors import UsageError
from gpuprof.interop.mirror import HostArray, Mirror

_DTYPES = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",  # numpy has these from ml_dtypes
}  # fmt: skip
_DESCRIPTORS = ("TensorDescriptor", "TensorDescriptorIm2Col")


class ElementType:
    """numpy's type of an array's elements, with what Triton asks of torch's."""

    def __init__(self, dtype: np.dtype):
        self.dtype = dtype  # numpy.dtype() looks for it

    @property
    def is_floating_point(self) -> bool:
        return "float" in self.dtype.name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own probes
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        return self.dtype == (other.dtype if isinstance(other, ElementType) else other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return str(self.dtype)


class Tensor:
    """An array in device memory, with the names that Triton and its users' launch code know from torch.

    Strides are in elements. What it does not have itself it takes from `host`, the array it was made of.
    """

    def __init__(
        self, submit: Submit, address: int, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], host: Any
    ):
        self._submit, self._address, self._strides, self._host = submit, address, strides, host
        self.dtype = ElementType(dtype) if isinstance(dtype, np.dtype) else dtype
        self.shape, self.ndim = shape, len(shape)

    @classmethod
    def of_device(cls, array: DeviceArray) -> "Tensor":
        strides = tuple(math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim))
        return cls(array._submit, array.address, array.dtype, array.shape, strides, array)

    def data_ptr(self) -> int:
        return self._address

    def stride(self, axis: int | None = None) -> Any:
        return self._strides if axis is None else self._strides[axis]

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def is_contiguous(self) -> bool:
        return self._strides == tuple(math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim))

    def numpy(self) -> np.ndarray:
        """The content as a new numpy array."""
        extent = (
            sum((length - 1) * stride for length, stride in zip(self.shape, self._strides, strict=True)) + 1
            if self.numel()
            else 0
        )
        kind = np.dtype(self.dtype)
        content = self._submit(cmd.CopyOut(self._address, extent * kind.itemsize))
        # as_strided does not know ml_dtypes' float8_e5m2
        return np.ndarray(
            self.shape, kind, content, strides=[stride * kind.itemsize for stride in self._strides]
        ).copy()

    def zero_(self) -> "Tensor":
        """Sets every byte to zero; what @triton.autotune(reset_to_zero=...) calls."""
        self._submit(cmd.Fill(self._address, self._nbytes()))
        return self

    def clone(self) -> bytes:
        """Its bytes, for `copy_`: what @triton.autotune(restore_value=...) calls."""
        return self._submit(cmd.CopyOut(self._address, self._nbytes()))

    def copy_(self, content: bytes) -> "Tensor":
        self._submit(cmd.CopyIn(self._address, content))
        return self

    def _nbytes(self) -> int:
        if not self.is_contiguous():
            raise UsageError(f"{self!r}: only an array without gaps between its rows can be reset or restored")
        return self.numel() * self.element_size()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own probes
            raise AttributeError(name)
        return getattr(self._host, name)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return type_text(self.dtype, self.shape)


class Call(NamedTuple):
    arguments: tuple[Any, ...]
    options: dict[str, Any]


@contextmanager
def given(gpu: Device, names: Sequence[str], arguments: Sequence[Any], options: dict[str, Any]) -> Iterator[Call]:
    """The arguments of one call with their arrays in device memory; at the end what was written is copied back.

    Raises UsageError for an array that no kernel can be given, naming the argument.
    """
    labels = [*names[: len(arguments)], *(f"argument {n}" for n in range(len(names) + 1, len(arguments) + 1))]
    values = [*zip(labels, arguments, strict=True), *options.items()]
    hosts = [host for name, value in values for host in _hosts(name, value)]
    mirror = Mirror(gpu.submit, [HostArray(name, array) for name, array, _ in hosts])
    try:
        tensors = {
            id(original): _tensor(gpu.submit, address, array, original)
            for (_, array, original), address in zip(hosts, mirror.addresses, strict=True)
        }
        yield Call(
            tuple(_replaced(value, tensors) for value in arguments),
            {name: _replaced(value, tensors) for name, value in options.items()},
        )
        mirror.copy_back()
    finally:
        mirror.release()


def _hosts(name: str, value: Any) -> Iterator[tuple[str, np.ndarray, Any]]:
    """The arrays in a value: (name, as numpy sees its memory, the user's object)."""
    if isinstance(value, np.ndarray):
        _check_dtype(name, value.dtype)
        yield name, value, value
    elif _is_torch(value):
        yield name, _memory_of_torch(name, value), value
    elif isinstance(value, tuple | list):
        for number, part in enumerate(value):
            yield from _hosts(f"{name}[{number}]", part)
    elif _is_descriptor(value):
        yield from _hosts(name, value.base)


def _replaced(value: Any, tensors: dict[int, Tensor]) -> Any:
    """The value with its arrays replaced."""
    if id(value) in tensors:
        return tensors[id(value)]
    if isinstance(value, DeviceArray):
        return Tensor.of_device(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        parts = [_replaced(part, tensors) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if _is_descriptor(value):
        return dataclasses.replace(value, base=_replaced(value.base, tensors))
    return value


def _tensor(submit: Submit, address: int, array: np.ndarray, original: Any) -> Tensor:
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return Tensor(submit, address, original.dtype, tuple(array.shape), strides, original)


def _check_dtype(name: str, dtype: np.dtype) -> None:
    if str(dtype) not in _DTYPES:
        raise UsageError(f"{name}: Triton has no arrays of {dtype}; it has {', '.join(sorted(_DTYPES))}")


def _is_torch(value: Any) -> bool:
    """True for a torch tensor. torch is never imported for this: a value of its types means that it was."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _memory_of_torch(name: str, value: Any) -> np.ndarray:
    """The memory of a CPU tensor as integers: numpy does not have all of torch's types."""
    if value.device.type != "cpu":
        raise UsageError(
            f"{name}: the tensor is on {value.device}; the emulated GPU takes CPU tensors; pass {name}.cpu()"
        )
    torch = sys.modules["torch"]
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    if value.element_size() not in integers or value.is_complex():
        raise UsageError(f"{name}: Triton has no tensors of {value.dtype}")
    return value.detach().view(integers[value.element_size()]).numpy()


def _is_descriptor(value: Any) -> bool:
    """True for the descriptors of Triton and Gluon, which differ in their modules and fields."""
    return type(value).__name__ in _DESCRIPTORS and dataclasses.is_dataclass(value)
