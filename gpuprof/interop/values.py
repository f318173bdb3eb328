"""The bytes of one kernel parameter as a launch value."""

from gpuprof.device.launching.argument_values import Raw
from gpuprof.device.launching.bind import ArrayValue, Value
from gpuprof.isa.program import Param


def value_of(param: Param, data: bytes, text: str) -> Value:
    """`data`, little-endian, for a parameter at least as wide. What the assembler takes for a pointer may be a 64-bit
    number, such as a stride.
    """
    if param.is_pointer:
        return ArrayValue(int.from_bytes(data, "little"), "", 0)
    return Raw(text, data.ljust(param.nbytes, b"\0"))
