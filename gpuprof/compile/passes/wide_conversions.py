"""Conversions between integers of 128 bits and floating point, for which LLVM calls a library that NVPTX does not have.

The functions have the names of compiler-rt's. What is out of range becomes the nearest number, and NaN only the top
bit, as in the code of nvcc 13.0.
"""

import re

_TO_FLOAT = re.compile(r"= (u|s)itofp (?:nneg )?i128 (\S+) to (double|float|half)\b")
_TO_INTEGER = re.compile(r"= fpto(u|s)i (double|float|half|bfloat) (\S+) to i128\b")
_LINE = re.compile(rf"^(\s*)(%\S+) (?:{_TO_FLOAT.pattern}|{_TO_INTEGER.pattern})(.*)$", re.MULTILINE)

_FROM_UNSIGNED = """
define internal {type} @__floatunti{suffix}(i128 %x) nounwind {{
  %zeros = call i128 @llvm.ctlz.i128(i128 %x, i1 false)
  %none = icmp ugt i128 %zeros, 64
  %count = select i1 %none, i128 64, i128 %zeros
  %shift = sub i128 64, %count
  %high = lshr i128 %x, %shift  ; its 64 bits, or all of x
  %whole = shl i128 %high, %shift
  %cut = icmp ne i128 %whole, %x
  %sticky = zext i1 %cut to i64  ; bits that are cut off count as one, below those that rounding keeps
  %top = trunc i128 %high to i64
  %rounded = or i64 %top, %sticky
  %value = uitofp i64 %rounded to {type}
  %short = trunc i128 %shift to {word}
  %exponent = add {word} %short, {bias}
  %bits = shl {word} %exponent, {mantissa}
  %scale = bitcast {word} %bits to {type}
  %result = fmul {type} %value, %scale
  ret {type} %result
}}
"""
_FROM_SIGNED = """
define internal {type} @__floatti{suffix}(i128 %x) nounwind {{
  %sign = ashr i128 %x, 127
  %flipped = xor i128 %x, %sign
  %size = sub i128 %flipped, %sign
  %value = call {type} @__floatunti{suffix}(i128 %size)
  %negative = fneg {type} %value
  %below = icmp slt i128 %x, 0
  %result = select i1 %below, {type} %negative, {type} %value
  ret {type} %result
}}
"""
_TO_UNSIGNED = """
define internal i128 @gpuprof_magnitude(double %x) nounwind {
  %bits = bitcast double %x to i64
  %fraction = and i64 %bits, 4503599627370495
  %whole = or i64 %fraction, 4503599627370496
  %wide = zext i64 %whole to i128
  %field = lshr i64 %bits, 52
  %biased = and i64 %field, 2047
  %exponent = sub i64 %biased, 1075  ; of the last bit of the fraction
  %left = zext i64 %exponent to i128
  %opposite = sub i64 0, %exponent
  %right = zext i64 %opposite to i128
  %grows = icmp sge i64 %exponent, 0
  %up = select i1 %grows, i128 %left, i128 0
  %down = select i1 %grows, i128 0, i128 %right
  %far = icmp ugt i128 %down, 63
  %most = select i1 %far, i128 63, i128 %down
  %cut = lshr i128 %wide, %most
  %none = icmp ugt i128 %up, 75  ; 2^128 and more
  %most.up = select i1 %none, i128 0, i128 %up
  %shifted = shl i128 %cut, %most.up
  %result = select i1 %none, i128 -1, i128 %shifted
  ret i128 %result
}

define internal i128 @__fixunsdfti(double %x) nounwind {
  %positive = fcmp ogt double %x, 0.0
  %size = call i128 @gpuprof_magnitude(double %x)
  %number = select i1 %positive, i128 %size, i128 0
  %is.nan = fcmp uno double %x, %x
  %result = select i1 %is.nan, i128 -170141183460469231731687303715884105728, i128 %number
  ret i128 %result
}

define internal i128 @__fixdfti(double %x) nounwind {
  %size = call i128 @gpuprof_magnitude(double %x)
  %bits = bitcast double %x to i64
  %below = icmp slt i64 %bits, 0
  %large = icmp slt i128 %size, 0
  %most = select i1 %large, i128 170141183460469231731687303715884105727, i128 %size
  %opposite = sub i128 0, %size
  %least = select i1 %large, i128 -170141183460469231731687303715884105728, i128 %opposite
  %signed = select i1 %below, i128 %least, i128 %most
  %is.nan = fcmp uno double %x, %x
  %result = select i1 %is.nan, i128 -170141183460469231731687303715884105728, i128 %signed
  ret i128 %result
}
"""
_FLOATS = (
    {"type": "double", "suffix": "df", "word": "i64", "bias": 1023, "mantissa": 52},
    {"type": "float", "suffix": "sf", "word": "i32", "bias": 127, "mantissa": 23},
)
_CTLZ = "declare i128 @llvm.ctlz.i128(i128, i1 immarg)\n"


def lower_wide_conversions(ir: str) -> str:
    """The IR with calls in place of such conversions, and the functions that they call."""
    made = _LINE.sub(_called, ir)
    if made == ir:
        return ir
    library = "".join(text.format(**each) for each in _FLOATS for text in (_FROM_UNSIGNED, _FROM_SIGNED))
    declared = "" if "@llvm.ctlz.i128(" in ir else _CTLZ
    return f"{made}\n{library}{_TO_UNSIGNED}{declared}"


def _called(match: re.Match) -> str:
    indent, result, sign, wide, to, whole_sign, narrow, value, rest = match.groups()
    if wide is not None:
        name = "floatunti" if sign == "u" else "floatti"
        if to != "half":
            suffix = "df" if to == "double" else "sf"
            return f"{indent}{result} = call {to} @__{name}{suffix}(i128 {wide}){rest}"
        # All that a half can hold is exact as a float.
        single = _named(result, "single")
        call = f"{indent}{single} = call float @__{name}sf(i128 {wide}){rest}"
        return f"{call}\n{indent}{result} = fptrunc float {single} to half{rest}"
    name = "fixunsdfti" if whole_sign == "u" else "fixdfti"
    if narrow == "double":
        return f"{indent}{result} = call i128 @__{name}(double {value}){rest}"
    double = _named(result, "double")
    extended = f"{indent}{double} = fpext {narrow} {value} to double{rest}"
    return f"{extended}\n{indent}{result} = call i128 @__{name}(double {double}){rest}"


def _named(result: str, what: str) -> str:
    """A name of its own, next to %5 or %conv."""
    return f"%gpuprof.{what}.{result.strip('%').strip(chr(34))}"
