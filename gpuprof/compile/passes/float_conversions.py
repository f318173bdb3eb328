"""Conversions of numbers to integers as the GPU makes them, also where the value is out of range.

C++ leaves these open, and LLVM's `fptosi` of a constant out of range is nothing at all: a store of it disappears. nvcc
has `cvt.rzi` to 32 or 64 bits, which takes the nearest number of its type, and of narrower types the low bits of that.
Clang, asked to leave nothing open, writes calls that saturate in the integer's own type; here they become `cvt`:

    %5 = call i8 @llvm.fptoui.sat.i8.f32(float %4)    ->    %gpuprof.wide.5 = call i32 @llvm.nvvm.f2ui.rz(float %4)
                                                            %5 = trunc i32 %gpuprof.wide.5 to i8
"""

import re

_CONVERSION = re.compile(
    r"^  (%[\w.]+) = (?:tail )?call (i\d+) @llvm\.fpto([su])i\.sat\.i\d+\.\w+\((\w+) ([^),]+)\)[^!\n]*(.*)$",
    re.MULTILINE,
)
_SOURCES = {"float": "f", "double": "d"}
_RESULTS = {"i8": "i32", "i16": "i32", "i32": "i32", "i64": "i64"}  # type -> the narrowest type of `cvt` that holds it
_NAMES = {("i32", "s"): "i", ("i32", "u"): "ui", ("i64", "s"): "ll", ("i64", "u"): "ull"}


def convert_as_hardware(ir: str) -> str:
    """Clang's IR with `cvt.rzi` for each conversion; of other types than `cvt` has, what clang has by default."""
    declared: dict[str, str] = {}

    def replace(match: re.Match) -> str:
        name, result, sign, source, value, tail = match.groups()
        tail = f", {tail}" if tail else ""
        if source not in _SOURCES or result not in _RESULTS:
            return f"  {name} = fpto{sign}i {source} {value} to {result}{tail}"
        wide = _RESULTS[result]
        function = f"@llvm.nvvm.{_SOURCES[source]}2{_NAMES[wide, sign]}.rz"
        declared[function] = f"declare {wide} {function}({source})\n"
        if wide == result:
            return f"  {name} = call {wide} {function}({source} {value}){tail}"
        at = f"%gpuprof.wide.{match.start()}"
        return (
            f"  {at} = call {wide} {function}({source} {value}){tail}\n  {name} = trunc {wide} {at} to {result}{tail}"
        )

    converted = _CONVERSION.sub(replace, ir)
    new = (line for function, line in declared.items() if f" {function}(" not in ir)
    return converted + "".join(new)
