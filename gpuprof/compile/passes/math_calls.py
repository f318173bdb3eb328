"""Calls of mathematical functions that clang makes of its own names (`__builtin_sinf(x)`, a product of `_Complex`), for
which LLVM has no instruction on NVPTX, nor a library.

They become calls of functions that a second source defines, with those of the CUDA language.
"""

import re
from collections.abc import Iterable

PREFIX = "gpuprof_libm_"

# Result and arguments of each: x float or double, c _Complex of it, p int *, y a pointer to x.
_SIGNATURES = {
    "x(x)": "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p "
    "logb cbrt erf erfc lgamma tgamma",
    "x(x,x)": "pow atan2 fmod remainder hypot fdim nextafter",
    "i(x)": "ilogb",
    "l(x)": "lrint lround",
    "q(x)": "llrint llround",
    "x(x,i)": "ldexp scalbn powi",
    "x(x,l)": "scalbln",
    "x(x,p)": "frexp",
    "x(x,y)": "modf",
    "x(x,x,p)": "remquo",
    "v(x,y,y)": "sincos",
}
_SIGNATURE_OF = {name: signature for signature, names in _SIGNATURES.items() for name in names.split()}
_COMPLEX = {"__mulsc3": "float", "__divsc3": "float", "__muldc3": "double", "__divdc3": "double"}
_IN_C = {
    "c": "{x} _Complex", "x": "{x}", "y": "{x} *", "i": "int", "l": "long", "q": "long long", "p": "int *", "v": "void",
}  # fmt: skip
_IN_LLVM = {"c": "{{ {x}, {x} }}", "x": "{x}", "y": "ptr", "i": "i32", "l": "i64", "q": "i64", "p": "ptr", "v": "void"}

_NAMES = "|".join(sorted(_SIGNATURE_OF, key=len, reverse=True))
# A float's exp2 is an instruction.
_CALLED = re.compile(
    rf"@(?:llvm\.(?!exp2\.f32)(?P<intrinsic>{_NAMES})(?:\.i64)?\.(?P<width>f32|f64)(?:\.i32)?"
    rf"|(?P<function>(?:{_NAMES})f?|{'|'.join(_COMPLEX)}))\("
)
_DECLARED = re.compile(rf"^declare [^@\n]*{_CALLED.pattern}.*\n", re.MULTILINE)
_REMAINDER = re.compile(r"= frem (?:[a-z]+ )*(float|double) ([^,\n]+), ([^,\n]+)")

# LLVM's forms return both results.
_PAIR_WITH_RESULT = """
define internal {{ {x}, {other} }} @{name}.pair({x} %x) alwaysinline nounwind {{
  %place = alloca {other}
  %first = call {x} @{name}({x} %x, ptr %place)
  %second = load {other}, ptr %place
  %one = insertvalue {{ {x}, {other} }} poison, {x} %first, 0
  %both = insertvalue {{ {x}, {other} }} %one, {other} %second, 1
  ret {{ {x}, {other} }} %both
}}
"""
_PAIR = """
define internal {{ {x}, {x} }} @{name}.pair({x} %x) alwaysinline nounwind {{
  %first.place = alloca {x}
  %second.place = alloca {x}
  call void @{name}({x} %x, ptr %first.place, ptr %second.place)
  %first = load {x}, ptr %first.place
  %second = load {x}, ptr %second.place
  %one = insertvalue {{ {x}, {x} }} poison, {x} %first, 0
  %both = insertvalue {{ {x}, {x} }} %one, {x} %second, 1
  ret {{ {x}, {x} }} %both
}}
"""
_PAIRS = {"frexp": _PAIR_WITH_RESULT, "modf": _PAIR_WITH_RESULT, "sincos": _PAIR}


def call_math_functions(ir: str) -> tuple[str, list[str]]:
    """The IR with calls of the functions of `math_source`, and their names in C."""
    known = {_key(match) for match in _DECLARED.finditer(ir)}  # a program may define such a function of its own

    def renamed(match: re.Match) -> str:
        return f"@{_symbol(match)}(" if _key(match) in known else match[0]

    called = _CALLED.sub(renamed, _DECLARED.sub("", ir))
    pairs = {_c_name(*key) for key in known if key[0] in _PAIRS}
    names = {_c_name(*key) for key in known} | {_remainder_of(match) for match in _REMAINDER.finditer(called)}
    if not names:
        return ir, []
    made = _REMAINDER.sub(_remainder_called, called)
    return made + "".join([*map(_pair, sorted(pairs)), *map(_declaration, sorted(names))]), sorted(names)


def math_source(names: Iterable[str]) -> str:
    """The source that defines those functions; `_Complex` ones with those of `gpuprof/complex_products.h`."""
    return "#include <gpuprof/complex_products.h>\n" + "".join(map(_definition, names))


def _key(match: re.Match) -> tuple[str, str, str]:
    """Intrinsic, its width, and function: as the IR names them, with "" for none."""
    return tuple(each or "" for each in match.group("intrinsic", "width", "function"))


def _c_name(intrinsic: str, width: str, function: str) -> str:
    return function or (f"{intrinsic}f" if width == "f32" else intrinsic)


def _symbol(match: re.Match) -> str:
    return f"{PREFIX}{_c_name(*_key(match))}{'.pair' if match['intrinsic'] in _PAIRS else ''}"


def _signature(name: str) -> tuple[str, str, str]:
    """The floating type, the result's letter, and those of the arguments."""
    if name in _COMPLEX:
        return _COMPLEX[name], "c", "xxxx"
    is_double = name in _SIGNATURE_OF
    result, arguments = _SIGNATURE_OF[name if is_double else name[:-1]].rstrip(")").split("(")
    return "double" if is_double else "float", result, arguments.replace(",", "")


def _declaration(name: str) -> str:
    x, result, arguments = _signature(name)
    types = ", ".join(_IN_LLVM[each].format(x=x) for each in arguments)
    return f"declare {_IN_LLVM[result].format(x=x)} @{PREFIX}{name}({types})\n"


def _definition(name: str) -> str:
    x, result, arguments = _signature(name)
    taken = ", ".join(f"{_IN_C[each].format(x=x)} a{i}" for i, each in enumerate(arguments))
    given = ", ".join(f"a{i}" for i in range(len(arguments)))
    function = f"gpuprof_math::{name.strip('_')[:3]}_complex" if name in _COMPLEX else f"::{name}"
    head = f"{_IN_C[result].format(x=x)} {PREFIX}{name}({taken})"
    return f'extern "C" __device__ __attribute__((nodebug, always_inline)) {head} {{ return {function}({given}); }}\n'


def _pair(name: str) -> str:
    x, _, arguments = _signature(name)
    other = "i32" if arguments == "xp" else x
    base = name if name in _SIGNATURE_OF else name[:-1]
    return _PAIRS[base].format(name=PREFIX + name, x=x, other=other)


def _remainder_of(match: re.Match) -> str:
    return "fmod" if match[1] == "double" else "fmodf"


def _remainder_called(match: re.Match) -> str:
    """LLVM's own sequence for `frem` is exact only where the quotient is."""
    return f"= call {match[1]} @{PREFIX}{_remainder_of(match)}({match[1]} {match[2]}, {match[1]} {match[3]})"
