"""Conversions of numbers to integers as the GPU makes them, also where the value is out of range.

C++ leaves these open, and LLVM's `fptosi` of a constant out of range is nothing at all: a store of it disappears. nvcc
has `cvt.rzi` to 32 or 64 bits, which takes the nearest number of its type, and of narrower types the low bits of that.
Clang, asked to leave nothing open, writes calls that saturate in the integer's own type. Before LLVM optimises, they
become calls that saturate as `cvt` does, which are `cvt`'s own where NaN does not become 0 (of double, to 64 bits):

    %5 = call i8 @llvm.fptoui.sat.i8.f32(float %4)   ->   %gpuprof.wide.5 = call i32 @llvm.fptoui.sat.i32.f32(float %4)
                                                          %5 = trunc i32 %gpuprof.wide.5 to i8

Afterwards those of constants are gone, and the others are `fptoui`, for which LLVM selects `cvt.rzi`. `cvt`'s own calls
hide from LLVM that they may be moved, which changes the order of sums in addresses.
"""

import re

_CONVERSION = re.compile(
    r"^  (%[\w.]+) = (?:tail )?call (i\d+) @llvm\.fpto([su])i\.sat\.i\d+\.\w+\((\w+) ([^),]+)\)[^!\n]*(.*)$",
    re.MULTILINE,
)
_SOURCES = {"float": "f", "double": "d"}
_RESULTS = {"i8": "i32", "i16": "i32", "i32": "i32", "i64": "i64"}  # type -> the narrowest type of `cvt` that holds it
_NAMES = {("i32", "s"): "i", ("i32", "u"): "ui", ("i64", "s"): "ll", ("i64", "u"): "ull"}
_VARIABLE = re.compile(
    r"(?:tail )?call (?:range\([^)]*\) )?(?:noundef )?(i32|i64) @llvm\.fpto([su])i\.sat\.\w+\.\w+"
    r"\((float|double) (?:noundef )?(%[\w.]+)\)(?: #\d+)?"
)


def saturate_as_hardware(ir: str) -> str:
    """Clang's IR with conversions that saturate in a type of `cvt`; of types that it does not have, clang's default."""
    declared: dict[str, str] = {}

    def replace(match: re.Match) -> str:
        name, result, sign, source, value, tail = match.groups()
        tail = f", {tail}" if tail else ""
        if source not in _SOURCES or result not in _RESULTS:
            return f"  {name} = fpto{sign}i {source} {value} to {result}{tail}"
        wide = _RESULTS[result]
        function = _function(source, wide, sign)
        declared[function] = f"declare {wide} {function}({source})\n"
        if wide == result:
            return f"  {name} = call {wide} {function}({source} {value}){tail}"
        at = f"%gpuprof.wide.{match.start()}"
        return (
            f"  {at} = call {wide} {function}({source} {value}){tail}\n  {name} = trunc {wide} {at} to {result}{tail}"
        )

    converted = _CONVERSION.sub(replace, ir)
    return converted + "".join(line for function, line in declared.items() if not _declares(converted, function))


def _function(source: str, wide: str, sign: str) -> str:
    if (source, wide) == ("float", "i32"):
        return f"@llvm.fpto{sign}i.sat.i32.f32"
    return f"@llvm.nvvm.{_SOURCES[source]}2{_NAMES[wide, sign]}.rz"


def _declares(ir: str, function: str) -> bool:
    return re.search(rf"^declare [^\n]*{re.escape(function)}\(", ir, re.MULTILINE) is not None


def convert_by_instructions(ir: str) -> str:
    """Optimised IR with an instruction for each conversion of a value that is no constant."""
    return _VARIABLE.sub(r"fpto\2i \3 \4 to \1", ir)
