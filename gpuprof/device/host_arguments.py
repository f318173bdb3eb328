"""The arguments of a Python call as launch values. A plain numpy array is copied in, and back out when the kernel
writes it.
"""

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.array import DeviceArray, host_array, type_text
from gpuprof.device.elements import element_of
from gpuprof.device.launching.argument_values import Null, Raw, Scalar
from gpuprof.device.launching.bind import ArrayValue, Value, can_hold_address, check_count, spelling
from gpuprof.device.streams import Submit
from gpuprof.device.tensormap import TensorMap
from gpuprof.device.texture import Texture
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function, Param


@contextmanager
def host_arguments(submit: Submit, function: Function, arguments: tuple[Any, ...]) -> Iterator["HostArguments"]:
    """The arguments of one call, ready to bind. Temporary copies are freed at the end, whatever happened."""
    check_count(function, len(arguments))
    given = HostArguments(submit, function)
    try:
        for param, argument in zip(function.params, arguments, strict=True):
            given.add(param, argument)
        yield given
    finally:
        given.release()


class HostArguments:
    """`values` are ready to bind, `texts` name them; `copy_back` after the launch."""

    def __init__(self, submit: Submit, function: Function):
        self._submit, self._function = submit, function
        self._written: list[tuple[np.ndarray, int]] = []  # host array, device address
        self._temporary: list[int] = []  # device addresses
        self.values: list[Value] = []
        self.texts: list[str] = []

    def add(self, param: Param, argument: Any) -> None:
        """The next argument. Raises UsageError for what no kernel can be given."""
        self.texts.append(_text(argument))
        self.values.append(self._value(param, argument))

    def copy_back(self) -> None:
        """Copies the kernel's results into the host's arrays."""
        for array, address in self._written:
            data = self._submit(cmd.CopyOut(address, array.nbytes))
            array[...] = np.frombuffer(data, array.dtype.newbyteorder("<")).reshape(array.shape)

    def release(self) -> None:
        """Frees the temporary copies of numpy arrays."""
        for address in self._temporary:
            self._submit(cmd.Free(address))
        self._temporary.clear()

    def _value(self, param: Param, argument: Any) -> Value:
        if isinstance(argument, DeviceArray | Texture):
            return argument.as_argument()
        if isinstance(argument, TensorMap):
            return Raw(_text(argument), argument.encode())
        if isinstance(argument, np.ndarray) and can_hold_address(param):
            return self._copied_in(param, argument)
        if isinstance(argument, bytes | np.void | np.ndarray) or _is_small_float_struct(param, argument):
            return Raw(_text(argument), argument if isinstance(argument, bytes) else argument.tobytes())
        if argument is None:
            return Null("None")
        if isinstance(argument, bool | int | float):
            return Scalar(str(argument), argument)
        if isinstance(argument, np.number | np.bool_) and argument.dtype.kind != "c":
            return Scalar(str(argument), argument.item())
        raise UsageError(self._complaint(param, f"a {type(argument).__name__} cannot be passed to a kernel"))

    def _copied_in(self, param: Param, array: np.ndarray) -> ArrayValue:
        if param.is_pointer and param.is_written and not array.flags.writeable:
            raise UsageError(self._complaint(param, "the kernel writes to this array, which is read-only"))
        data = host_array(array)
        address = self._submit(
            cmd.Allocate(data.nbytes, f"argument {len(self.texts)} of {self._function.display}")
        ).address
        self._temporary.append(address)
        self._submit(cmd.CopyIn(address, data.tobytes()))
        if param.is_written or (
            not param.is_pointer and array.flags.writeable
        ):  # PTX by hand does not mark pointers: how it is used is not known
            self._written.append((array, address))
        element = element_of(data.dtype)
        return ArrayValue(address, element.name if element else "", data.nbytes)

    def _complaint(self, param: Param, text: str) -> str:
        return f"{self._function.display}: argument {len(self.texts)} ({spelling(param)}): {text}"


def _is_small_float_struct(param: Param, argument: Any) -> bool:
    """`half` is a structure of 16 bits to the compiler; np.float16(1.5) is meant as those bits."""
    return isinstance(argument, np.floating) and param.type.startswith("b") and argument.nbytes == param.nbytes


def _text(argument: Any) -> str:
    """An argument in a launch's text: arrays by their type, numbers as they are."""
    if isinstance(argument, np.ndarray | DeviceArray):
        return type_text(argument.dtype, argument.shape)
    if isinstance(argument, Texture):
        return argument.text
    if isinstance(argument, TensorMap):
        return str(argument)
    if isinstance(argument, bytes):
        return f"{len(argument)} bytes"
    return str(argument) if isinstance(argument, bool | int | float | np.generic) else reprlib.repr(argument)
