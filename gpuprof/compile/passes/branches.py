"""Branches of LLVM's PTX, as nvcc writes them.

LLVM cannot turn a branch around once it has laid out the blocks, so a loop may end in two branches a turn:

    setp.eq.b32 %p3, %r26, %r31;                 setp.ne.b32 %p3, %r26, %r31;
    @%p3 bra $L__BB0_3;               ->         @%p3 bra $L__BB0_8;
    bra.uni $L__BB0_8;                       $L__BB0_3:
    $L__BB0_3:
"""

import re

# A guarded branch over a branch, with the lines about places between them.
_OVER = re.compile(
    r"^\t@(?P<not>!?)(?P<guard>%p\d+) bra \t(?P<over>\$\w+);\n"
    r"(?P<places>(?:\t(?:\.loc|//@).*\n)*)"
    r"\tbra\.uni \t(?P<to>\$\w+);\n"
    r"(?P<label>(?P=over):)",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
_OPPOSITE = {"eq": "ne", "lt": "ge", "le": "gt"}
_OPPOSITE |= {other: one for one, other in _OPPOSITE.items()}
_INTEGERS = re.compile(r"[bsu](?:16|32|64)")


def turn_branches(ptx: str) -> str:
    return _FUNCTION.sub(lambda function: _turned(function[0]), ptx)


def _turned(function: str) -> str:
    """One function's text, with one branch in place of two where the first jumped over the second."""
    matches = list(_OVER.finditer(function))
    for branch in reversed(matches):
        before, after = function[: branch.start()], function[branch.end() :]
        guard, is_negated = branch["guard"], bool(branch["not"])
        compared = None if is_negated else _opposite_comparison(before, guard, function)
        if compared is not None:
            before = compared
        else:
            is_negated = not is_negated
        sign = "!" if is_negated else ""
        function = f"{before}\t@{sign}{guard} bra \t{branch['to']};\n{branch['places']}{branch['label']}{after}"
    return function


def _opposite_comparison(before: str, guard: str, function: str) -> str | None:
    """The text up to the branch with its integer comparison the other way around; None where the guard comes from
    something else or goes elsewhere, too.
    """
    made = list(re.finditer(rf"^\tsetp\.(\w+)\.(\w+) \t{guard}, ", before, re.MULTILINE))
    if len(made) != 1 or len(re.findall(rf"{guard}\b", function)) != 2 or not _INTEGERS.fullmatch(made[0][2]):
        return None
    (comparison,) = made
    opposite = _OPPOSITE[comparison[1]]
    return before[: comparison.start(1)] + opposite + before[comparison.end(1) :]
