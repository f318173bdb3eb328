"""An array in device memory, with the names numba.cuda gives its own."""

import math
from typing import Any

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.elements import element_of
from gpuprof.device.launching.bind import ArrayValue
from gpuprof.device.streams import StreamLike, Submit, stream_number
from gpuprof.errors import UsageError


class DeviceArray:
    """C-ordered elements of `dtype` at `address`. Made by Device.to_device, Device.device_array and by slicing
    another.
    """

    def __init__(
        self,
        submit: Submit,
        address: int,
        shape: tuple[int, ...],
        dtype: np.dtype,
        name: str = "",
        is_part: bool = False,
    ):
        self._submit, self._is_part = submit, is_part
        self.address, self.shape, self.dtype, self.name = address, shape, dtype, name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def copy_to_host(self, ary: np.ndarray | None = None, stream: StreamLike = 0) -> np.ndarray:
        """The content as a new numpy array, or in `ary`, which has the same shape and dtype. Launches before it are
        done then.
        """
        if ary is not None:
            self._check_same(ary)
        content = np.frombuffer(
            self._submit(cmd.CopyOut(self.address, self.nbytes, stream_number(stream))), self.dtype
        ).reshape(self.shape)
        if ary is None:
            return content.copy()
        ary[...] = content
        return ary

    def copy_to_device(self, ary: "np.ndarray | DeviceArray", stream: StreamLike = 0) -> None:
        """Takes over the content of a numpy array or of another device array of the same shape and dtype."""
        self._check_same(ary)
        number = stream_number(stream)
        if isinstance(ary, DeviceArray):
            self._submit(cmd.CopyWithin(self.address, ary.address, self.nbytes, number))
        else:
            self._submit(cmd.CopyIn(self.address, ary.tobytes(), number))

    def fill(self, value: int | float, stream: StreamLike = 0) -> None:
        """Sets every element to `value`, converted to the array's dtype."""
        self._submit(
            cmd.Fill(self.address, self.nbytes, np.asarray(value, self.dtype).tobytes(), stream_number(stream))
        )

    def free(self) -> None:
        """Gives the memory back. Arrays that are not freed stay until the device goes."""
        if self._is_part:
            raise UsageError(f"{self!r} is part of another allocation and cannot be freed separately")
        self._submit(cmd.Free(self.address))

    def as_argument(self) -> ArrayValue:
        """The launch value that a kernel gets for this array."""
        element = element_of(self.dtype)
        return ArrayValue(self.address, element.name if element else "", self.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: Any) -> Any:
        """`a[first:last]`: those rows of the first dimension, in the same memory. `a[i]`, `a[i, j]`: one element, on
        the host.
        """
        index = part if isinstance(part, tuple) else (part,)
        if index and len(index) == self.ndim and all(isinstance(number, int | np.integer) for number in index):
            return self._element(index)
        if not isinstance(part, slice) or part.step not in (None, 1) or not self.shape:
            raise UsageError(
                f"{self!r} can be sliced as a[first:last], and has single elements; copy_to_host() gives the rest"
            )
        first, last, _ = part.indices(self.shape[0])
        row_nbytes = math.prod(self.shape[1:]) * self.dtype.itemsize
        shape = (max(last - first, 0), *self.shape[1:])
        return DeviceArray(self._submit, self.address + first * row_nbytes, shape, self.dtype, self.name, is_part=True)

    def __setitem__(self, part: Any, value: Any) -> None:
        """`a[first:last] = x`, `a[i] = x`, `a[i, j] = x`: rows, a row or an element become a number or an array that
        fits.
        """
        index = part if isinstance(part, tuple) else (part,)
        if self.shape and len(index) <= self.ndim and all(isinstance(number, int | np.integer) for number in index):
            address, shape = self._place(index), self.shape[len(index) :]
        else:
            rows = self[:] if part is Ellipsis else self[part]
            address, shape = rows.address, rows.shape
        host = value.copy_to_host() if isinstance(value, DeviceArray) else np.asarray(value)
        try:
            content = np.broadcast_to(host, shape).astype(self.dtype)
        except ValueError:
            raise UsageError(
                f"cannot put {type_text(host.dtype, host.shape)} into {type_text(self.dtype, shape)}"
            ) from None
        self._submit(cmd.CopyIn(address, content.tobytes()))

    def reshape(self, *shape: Any) -> "DeviceArray":
        """An array of the same memory with another shape; one length may be -1."""
        new_shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
        new = np.broadcast_to(np.uint8(0), self.shape).reshape(new_shape).shape
        return DeviceArray(self._submit, self.address, new, self.dtype, self.name, is_part=True)

    def ravel(self) -> "DeviceArray":
        return self.reshape(-1)

    def split(self, section: int) -> "list[DeviceArray]":
        """Pieces of `section` rows each; the last has the rest."""
        return [self[first : first + section] for first in range(0, self.shape[0], section)]

    def is_c_contiguous(self) -> bool:
        return True

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy on the host, for numpy's functions."""
        return self.copy_to_host().astype(dtype or self.dtype, copy=False)

    def _element(self, index: tuple[int, ...]) -> Any:
        data = self._submit(cmd.CopyOut(self._place(index), self.dtype.itemsize))
        return np.frombuffer(data, self.dtype)[0]

    def _place(self, index: tuple[int, ...]) -> int:
        """The address of `a[index]`, where fewer numbers than dimensions name a row."""
        lengths = self.shape[: len(index)]
        index_of_element = np.ravel_multi_index(
            tuple(range(length)[number] for number, length in zip(index, lengths, strict=True)), lengths
        )
        return self.address + int(index_of_element) * math.prod(self.shape[len(index) :]) * self.dtype.itemsize

    def __iter__(self):
        raise TypeError("a device array cannot be iterated; use copy_to_host()")

    def __repr__(self) -> str:
        return f"<device array {type_text(self.dtype, self.shape)} at 0x{self.address:x}>"

    def _check_same(self, other: Any) -> None:
        if not isinstance(other, np.ndarray | DeviceArray):
            raise UsageError(f"expected an array, got {type(other).__name__}")
        if (other.shape, other.dtype) != (self.shape, self.dtype):
            raise UsageError(
                f"cannot copy between {type_text(other.dtype, other.shape)} and {type_text(self.dtype, self.shape)}"
            )


def type_text(dtype: np.dtype, shape: tuple[int, ...]) -> str:
    """A type and shape as text: "float32[64,64]"."""
    return f"{dtype}[{','.join(map(str, shape))}]"


def host_array(value: Any) -> np.ndarray:
    """A C-ordered, little-endian numpy array of the user's values. Raises UsageError for Python objects."""
    array = np.asarray(value)
    return np.ascontiguousarray(array, plain_dtype(array.dtype)).reshape(array.shape)


def plain_dtype(dtype: Any) -> np.dtype:
    """A dtype as the device holds it: little-endian, no Python objects inside."""
    kind = np.dtype(dtype)
    if kind.hasobject:
        raise UsageError(f"an array of {kind} holds Python objects, which a GPU cannot hold; give it a numeric dtype")
    return kind.newbyteorder("<")
