"""Divisions by a variable that is multiplied in a loop stay divisions, as with nvcc.

LLVM sees that `s` in `for (s = 1; s < n; s *= 2)` is a power of two, and makes `x % (2 * s)` a mask. The LLVM in nvcc
13.0 does not see it for architectures before sm_100, where it takes a whole division. Here such a division is a call of
a function without a definition, in clang's IR, where variables are still in memory, until all passes are done:

    %5 = load i32, ptr %s                          %5 = load i32, ptr %s
    %6 = mul i32 2, %5                       ->    %6 = mul i32 2, %5
    %7 = urem i32 %4, %6                           %7 = call i32 @gpuprof.urem.i32(i32 %4, i32 %6)
"""

import re

SEES_POWERS = 100  # the first architecture for which nvcc's LLVM knows such a variable as a power of two

_FUNCTION = re.compile(r"^define .*?^\}\n", re.MULTILINE | re.DOTALL)
_LOAD = re.compile(r"^\s+(%[\w.]+) = load i\d+, ptr (%[\w.]+)", re.MULTILINE)
_STORE = re.compile(r"^\s+store i\d+ ([%\w.]+), ptr (%[\w.]+)", re.MULTILINE)
# A multiple, a shift or another width of a value. The other operand is a number.
_STEP = re.compile(
    r"^\s+(%[\w.]+) = (?:(?:mul|shl|lshr|ashr|udiv|sdiv)(?: nuw| nsw| exact)* i\d+ (?:\d+, (%[\w.]+)|(%[\w.]+), \d+)"
    r"|(?:zext|sext|trunc)(?: nneg| nuw| nsw)* i\d+ (%[\w.]+) to)",
    re.MULTILINE,
)
_DIVISION = re.compile(r"^(\s+%[\w.]+ = )([us](?:div|rem)) (i\d+) (\S+), (%[\w.]+)", re.MULTILINE)
_DECLARATION = "declare {1} @gpuprof.{0}.{1}({1}, {1}) nounwind willreturn memory(none)\n"
_DECLARED = re.compile(r"^declare .*@gpuprof\.[us](?:div|rem)\.i\d+\(.*\n", re.MULTILINE)
_CALL = re.compile(
    r"(?:tail )?call i\d+ @gpuprof\.([us](?:div|rem))\.(i\d+)\(i\d+ (?:[^%\n]* )?(%[\w.]+|-?\d+), "
    r"i\d+ (?:[^%\n]* )?(%[\w.]+|-?\d+)\)(?: #\d+)?"
)


def hide_divisions(ir: str, arch: str) -> str:
    """Clang's IR with those divisions as calls; as it is for architectures from SEES_POWERS on."""
    if int(re.sub(r"\D", "", arch)) >= SEES_POWERS:
        return ir
    hidden: set[tuple[str, str]] = set()  # operation, type

    def in_function(match: re.Match) -> str:
        return _hidden(match[0], hidden)

    return _FUNCTION.sub(in_function, ir) + "".join(_DECLARATION.format(*each) for each in sorted(hidden))


def show_divisions(ir: str) -> str:
    """The calls as divisions again."""
    return _CALL.sub(r"\1 \2 \3, \4", _DECLARED.sub("", ir))


def _hidden(function: str, hidden: set[tuple[str, str]]) -> str:
    if not _DIVISION.search(function):
        return function
    variable = dict(_LOAD.findall(function))
    source = {match[1]: match[2] or match[3] or match[4] for match in _STEP.finditer(function)}

    stored: dict[str, list[str]] = {}
    for value, place in _STORE.findall(function):
        stored.setdefault(place, []).append(value)

    def origin(value: str) -> str | None:
        """The variable that a value is a multiple of."""
        while value in source:
            value = source[value]
        return variable.get(value)

    stepped = {place for place, values in stored.items() if any(v in source and origin(v) == place for v in values)}
    # A variable that is set once, to a multiple of such a one.
    stepped |= {place for place, values in stored.items() if len(values) == 1 and origin(values[0]) in stepped}

    def hide(match: re.Match) -> str:
        begin, operation, kind, dividend, divisor = match.groups()
        if origin(divisor) not in stepped:
            return match[0]
        hidden.add((operation, kind))
        return f"{begin}call {kind} @gpuprof.{operation}.{kind}({kind} {dividend}, {kind} {divisor})"

    return _DIVISION.sub(hide, function)
