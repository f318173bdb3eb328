"""Structures of two halves, such as `__half2`, are returned as one word.

Clang returns a structure member by member. LLVM keeps them apart where ways meet, so that in a loop each half takes a
register, and instructions join them in each turn. nvcc has one register for both.

    %5 = call %struct.__half2 @f()                               %5 = call i32 @f()
    %6 = getelementptr %struct.__half2, ptr %2, i32 0, i32 0     %6 = getelementptr ...
    %7 = extractvalue %struct.__half2 %5, 0                      %7 = bitcast i32 %5 to i32
    store %struct.__half %7, ptr %6, align 4                     store i32 %7, ptr %6, align 4
    %8 = getelementptr %struct.__half2, ptr %2, i32 0, i32 1     %8 = getelementptr ...
    %9 = extractvalue %struct.__half2 %5, 1                      %9 = bitcast i32 %5 to i32
    store %struct.__half %9, ptr %8, align 2
"""

import re
from collections import Counter

from gpuprof.compile.llvm.functions import FUNCTION, functions

_STRUCTURE = re.compile(r"^(%[\w.:]+) = type \{ (.+) \}$", re.MULTILINE)
_HALVES = ("half", "bfloat", "i16")
_NAME = r'@(?:[\w.$]+|"[^"\n]+")'
_HEAD = re.compile(rf"(define [^@\n]*?)(%[\w.:]+) ({_NAME})\(")
_RETURN = re.compile(r"^  (%[\w.]+) = load (%[\w.:]+), (ptr .*)\n  ret \2 \1\b", re.MULTILINE)
_CALL = re.compile(
    rf"^  (?P<value>%[\w.]+) = (?P<how>(?:tail )?call [^@\n]*?)(?P<kind>%[\w.:]+) (?P<callee>{_NAME})(?P<given>\(.*)\n"
    r"(?P<first>  (?P<at0>%[\w.]+) = getelementptr [^\n]*)\n"
    r"  (?P<half0>%[\w.]+) = extractvalue (?P=kind) (?P=value), 0.*\n"
    r"  store \S+ (?P=half0), ptr (?P=at0), align (?P<align>\d+).*\n"
    r"(?P<second>  (?P<at1>%[\w.]+) = getelementptr [^\n]*)\n"
    r"  (?P<half1>%[\w.]+) = extractvalue (?P=kind) (?P=value), 1.*\n"
    r"  store \S+ (?P=half1), ptr (?P=at1), align \d+.*\n",
    re.MULTILINE,
)
_AS_WORD = r"""  \g<value> = \g<how>i32 \g<callee>\g<given>
\g<first>
  \g<half0> = bitcast i32 \g<value> to i32
  store i32 \g<half0>, ptr \g<at0>, align \g<align>
\g<second>
  \g<half1> = bitcast i32 \g<value> to i32
"""


def return_words(ir: str) -> str:
    """Clang's IR, not optimized yet, in which functions return a word where they returned two halves. A function that
    is declared only, called by its address or called in another form keeps what it has.
    """
    pairs = _pairs(dict(_STRUCTURE.findall(ir)))
    if not pairs:
        return ir
    mentioned = Counter(re.findall(_NAME, ir))
    called = Counter(match["callee"] for match in _CALL.finditer(ir) if match["kind"] in pairs)
    names = {
        head[3]
        for function in functions(ir)
        if (head := _HEAD.match(function)) and head[2] in pairs
        and mentioned[head[3]] == called[head[3]] + 1 and _RETURN.search(function)
        and len(re.findall(r"^  ret ", function, re.MULTILINE)) == 1
    }  # fmt: skip

    def in_function(match: re.Match) -> str:
        function = match[0]
        head = _HEAD.match(function)
        if head is None or head[3] not in names:
            return function
        return _RETURN.sub(r"  \1 = load i32, \3\n  ret i32 \1", _HEAD.sub(r"\1i32 \3(", function, count=1))

    ir = FUNCTION.sub(in_function, ir)
    return _CALL.sub(lambda match: match.expand(_AS_WORD) if match["callee"] in names else match[0], ir)


def _pairs(structures: dict[str, str]) -> set[str]:
    """The structures of two halves, which may be in structures of their own."""

    def parts(kind: str) -> list[str]:
        if kind not in structures:
            return [kind]
        return [part for member in structures[kind].split(", ") for part in parts(member)]

    found = {name: parts(name) for name in structures}
    return {name for name, kinds in found.items() if len(kinds) == 2 and all(kind in _HALVES for kind in kinds)}
