"""Arguments become the kernel's parameter block, by the kernel's own parameter types.

PTX does not distinguish an `int` from an `unsigned` parameter, so an integer may be given as either.
"""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gpuprof.device.elements import ELEMENTS, pack_number
from gpuprof.device.launching.argument_values import HandleValue, Null, Raw, Scalar
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function, Param

_POSITIONAL_NAME = re.compile(r".*_param_\d+$")  # what compilers call a parameter when they drop its name
_INTEGER_SPELLING = {1: "char", 2: "short", 4: "int", 8: "long"}
_HANDLES = ("u64", "b64", "s64", "texref", "surfref", "samplerref")
_FLOATS = ("f16", "bf16", "f32", "f64")


@dataclass(frozen=True)
class ArrayValue:
    """An array in device memory, as an argument."""

    address: int
    element: str  # a key of ELEMENTS; "" when its elements are no plain numbers
    nbytes: int


Value: TypeAlias = Scalar | Raw | Null | ArrayValue | HandleValue


def parameter_block(function: Function, values: Sequence[Value]) -> bytes:
    """The bytes of a kernel's parameters, each at its own offset. Raises UsageError for a wrong count, kind, range or
    element type.
    """
    check_count(function, len(values))
    block = bytearray(parameter_nbytes(function))
    for number, (param, value) in enumerate(zip(function.params, values, strict=True), 1):
        try:
            block[param.offset : param.offset + param.nbytes] = _pack(param, value)
        except UsageError as error:
            raise UsageError(f"{function.display}: argument {number} ({spelling(param)}): {error}") from None
    return bytes(block)


def parameter_nbytes(function: Function) -> int:
    return max((param.offset + param.nbytes for param in function.params), default=0)


def check_count(function: Function, given: int) -> None:
    """Raises UsageError when a kernel does not take that many arguments."""
    if given != len(function.params):
        raise UsageError(f"{signature(function)} but {given} {'was' if given == 1 else 'were'} given")


def signature(function: Function) -> str:
    """A kernel's parameters in words: "saxpy takes 2 parameters (int n, float *x)"."""
    n = len(function.params)
    if n == 0:
        return f"{function.display} takes no parameters"
    return f"{function.display} takes {n} parameter{'s' if n > 1 else ''} ({', '.join(map(spelling, function.params))})"


def spelling(param: Param) -> str:
    """A parameter as C writes it, as far as it is known: "const float *x"."""
    name = "" if _POSITIONAL_NAME.match(param.name) else param.name
    if param.is_pointer:
        const = "const " if param.is_read and not param.is_written else ""
        return f"{const}{_element_name(param.element) if param.element else 'void'} *{name}"
    kind = _type_name(param.type) if param.type != "b8" or param.nbytes == 1 else f"{param.nbytes}-byte struct"
    return f"{kind} {name}".rstrip()


def use(param: Param) -> str:
    """How a kernel uses the array of a pointer: "in", "out", "inout", or "unused"."""
    return {(True, False): "in", (False, True): "out", (True, True): "inout", (False, False): "unused"}[
        param.is_read, param.is_written
    ]


def _type_name(name: str) -> str:
    """C's name of a parameter's PTX type, which has no sign; a type that C does not have stays as it is."""
    if name in _FLOATS:
        return ELEMENTS[name].spelling
    if bits := re.fullmatch(r"[sub](8|16|32|64)", name):
        return _INTEGER_SPELLING[int(bits.group(1)) // 8]
    return name


def _element_name(name: str) -> str:
    """C's name of an array's elements, by PTX's name or ours; a type that C does not have stays as it is."""
    key = "i" + name[1:] if re.fullmatch(r"s\d+", name) else name
    return ELEMENTS[key].spelling if key in ELEMENTS else name


def _pack(param: Param, value: Value) -> bytes:
    return _PACKERS[type(value)](param, value)


def _pack_scalar(param: Param, scalar: Scalar) -> bytes:
    if param.is_pointer:
        raise UsageError(f"expected an array, got the number {scalar.text}")
    if param.type in _FLOATS:
        return pack_number(param.type, scalar.value)
    if not re.fullmatch(r"[sub](8|16|32|64)", param.type) or int(param.type[1:]) != 8 * param.nbytes:
        raise UsageError(
            f"expected {param.nbytes} bytes, as in f32(1.0, 2.0) or hex:{'00' * min(param.nbytes, 4)}..., got the "
            f"number {scalar.text}"
        )
    return _pack_integer(param, scalar)


def _pack_integer(param: Param, scalar: Scalar) -> bytes:
    value, bits = scalar.value, 8 * param.nbytes
    if value - value != 0 or int(value) != value:  # inf and nan, too
        raise UsageError(f"expected an integer, got {scalar.text}")
    low, high = -(1 << bits - 1), (1 << bits - (param.type[0] == "s")) - 1
    if not low <= value <= high:
        raise UsageError(f"{scalar.text} does not fit into {bits} bits ({low} to {high})")
    return (int(value) & ((1 << bits) - 1)).to_bytes(param.nbytes, "little")


def _pack_raw(param: Param, raw: Raw) -> bytes:
    if param.is_pointer:
        raise UsageError(f"expected an array, got the bytes {raw.text}")
    if len(raw.data) != param.nbytes:
        raise UsageError(f"expected {param.nbytes} bytes, got the {len(raw.data)} of {raw.text}")
    return raw.data


def _pack_null(param: Param, null: Null) -> bytes:
    if not can_hold_address(param):
        raise UsageError("expected a value, got null")
    return bytes(param.nbytes)


def _pack_array(param: Param, array: ArrayValue) -> bytes:
    if not can_hold_address(param):
        raise UsageError(
            "expected a number, got an array" if param.type != "b8" else f"expected {param.nbytes} bytes, got an array"
        )
    if not _same_kind(param.element, array.element):
        raise UsageError(
            f"expected an array of {_element_name(param.element)}, got {_element_name(array.element)} ({array.element})"
        )
    return struct.pack("<Q", array.address)


def _pack_handle(param: Param, value: HandleValue) -> bytes:
    if param.is_pointer or param.nbytes != 8 or param.type not in _HANDLES:
        raise UsageError(f"expected {'an array' if param.is_pointer else 'a number'}, got the {value.text}")
    return struct.pack("<Q", value.handle)


_PACKERS = {Scalar: _pack_scalar, Raw: _pack_raw, Null: _pack_null, ArrayValue: _pack_array, HandleValue: _pack_handle}


def can_hold_address(param: Param) -> bool:
    """A pointer, or a 64-bit integer: hand-written PTX does not mark its pointers."""
    return param.is_pointer or (param.nbytes == 8 and param.type in ("u64", "b64", "s64"))


def _same_kind(element: str, given: str) -> bool:
    """True when an array fits a pointer: one size, and float with float. Signs are not compared, nor types that are not
    plain numbers, nor 16-bit integers, which is how a `half` is stored.
    """
    match = re.fullmatch(r"(f|bf|[sub])(8|16|32|64)", element)
    if not match or not given:
        return True
    if 8 * ELEMENTS[given].nbytes != int(match.group(2)):
        return False
    if element in ("f16", "f32", "f64"):
        return given == element
    if element == "bf16":  # numpy has no such type; its users hold the bits
        return given in ("bf16", "u16")
    return match.group(1) == "b" or element in ("s16", "u16") or ELEMENTS[given].kind == "int"
