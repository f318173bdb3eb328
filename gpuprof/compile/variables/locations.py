"""LLVM's places for the numbers of `numbering`, from its output: the machine code's listing and the PTX with comments.

While passes change the text of the PTX, comments of ours are in it, where they hold; `without_comments` makes facts of
them (`isa.facts.VariableFacts`):

    //@at 4:0 2:7        from here on, scope and inlined call of each function around the code, the innermost first
    //@set 3 rd5         from here on, variable 3 is in %rd5
    //@set 6 =4 @32:8    variable 6 gives the position: the code has reached the source's 4 (`positions`)

The code is that which is generated without them: `tests/compile/test_variables.py`.
"""

import json
import os
import re
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence

from gpuprof.compile.llvm.lineinfo import AT
from gpuprof.compile.variables.numbering import Numbered
from gpuprof.compile.variables.overwritten_records import without_overwritten, written
from gpuprof.compile.variables.records import Record, Report, in_order
from gpuprof.isa.facts import ScopeChange, Setting, VariableFacts

# LLVM would report where variables are at the begin of each block, and is not aware that registers of PTX are written
# again: the debugger works that out itself.
WHERE_SET = ("--livedebugvalues-input-bb-limit=0", "--livedebugvalues-input-dbg-value-limit=0")
LISTING = "--print-after=stack-frame-layout"
SET = "\t//@set "

_LABEL = re.compile(r"\$\w+:")
_LEAVES = re.compile(r"\t(?:@\S+ )?(?:bra|brx|ret|exit|trap)\b")
_REPORTED = re.compile(r"^\s*//DEBUG_VALUE: (?:.*:)?(\d+) <- ")
_COMMENT = re.compile(r"\s*//.*$")
_LISTED = re.compile(
    r'^\s+DBG_VALUE (?P<value>.*?), (?P<indirect>\$noreg|0), !"(?P<number>\d+)", '
    r"!DIExpression\((?P<how>[^)]*)\)|^\s+DBG_VALUE_LIST !\"(?P<several>\d+)\"",
    re.MULTILINE,
)
_MACHINE_CODE = re.compile(r"^# Machine code for function ([^:]+):.*?^# End machine code", re.MULTILINE | re.DOTALL)
_CLASS = re.compile(r"%(\d+)(?:\.\w+)?:(b1|b16|b32|b64|b128)\b")
_PREFIX = {"b1": "p", "b16": "rs", "b32": "r", "b64": "rd", "b128": "rq"}
_DECLARED = re.compile(r"^\t\.reg \.\w+ \t%(\w+?)<(\d+)>;", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:\.visible |\.weak )?\.(?:entry|func)\b.*?([\w$]+)\($.*?^\{\n(.*?)^\}\n", re.M | re.S)
_SIGNS = {"DW_OP_plus": "+", "DW_OP_minus": "-", "DW_OP_mul": "*"}


def verbose_output(target, module_of: Callable[[], object], options: Callable[[list[str]], None]) -> tuple[str, str]:
    """The PTX with LLVM's comments, and its listing of the machine code, which it prints to standard error."""
    options([LISTING])
    target.set_asm_verbosity(True)
    sys.stderr.flush()
    with tempfile.TemporaryFile() as listing:
        kept = os.dup(2)
        os.dup2(listing.fileno(), 2)
        try:
            text = target.emit_assembly(module_of())
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        listing.seek(0)
        return text, listing.read().decode("utf-8", "replace")


def with_places(ptx: str, verbose_ptx: str, listing: str, numbered: Numbered) -> str:
    """The PTX with comments on where variables are. A function whose texts do not agree has none."""
    verbose = dict(_FUNCTION.findall(verbose_ptx))
    listed = {code[1].strip(): code[0] for code in _MACHINE_CODE.finditer(listing)}

    def replace(match: re.Match) -> str:
        name, body = match[1], match[2]
        if name not in verbose or name not in listed:
            return match[0]
        return match[0].replace(body, _commented(body, verbose[name], listed[name], numbered.records), 1)

    return f"{_FUNCTION.sub(replace, ptx).rstrip()}\n"


def without_comments(ptx: str, table: dict) -> tuple[str, VariableFacts]:
    """The PTX without our comments, and what they say of its lines. `table`: of the numbers."""
    lines: list[str] = []
    settings, scopes = [], []
    for line in ptx.split("\n"):
        if line.startswith(SET):
            variable, _, location = line.removeprefix(SET).partition(" ")
            settings.append(Setting(len(lines) + 1, int(variable), location))
        elif line.startswith(AT):
            pairs = (pair.split(":") for pair in line.removeprefix(AT).split())
            scopes.append(ScopeChange(len(lines) + 1, tuple((int(scope), int(call)) for scope, call in pairs)))
        else:
            lines.append(line)
    keys_as_text = json.loads(json.dumps(table))
    return "\n".join(lines), VariableFacts(tuple(settings), tuple(scopes), keys_as_text)


def _commented(body: str, verbose_body: str, listing: str, records: Sequence[Record]) -> str:
    """A function's text with its comments; as it was where the printouts disagree."""
    values = _values(body, listing)
    codes, comments = [], []
    for line in verbose_body.split("\n"):
        if reported := _REPORTED.match(line):
            if len(comments) == len(values) or values[len(comments)].record != int(reported[1]):
                return body
            comments.append((len(codes), values[len(comments)]))
        elif code := _code(line):
            codes.append(code)
    lines = body.split("\n")
    if [code for line in lines if (code := _code(line))] != codes or len(comments) != len(values):
        return body
    by_block: list[list[str | Report]] = [[]]  # by block
    number, at = 0, 0
    for line in lines:
        if code := _code(line):
            if _LABEL.match(code):
                by_block.append([])
            while at < len(comments) and comments[at][0] <= number:
                by_block[-1].append(comments[at][1])
                at += 1
            number += 1
        by_block[-1].append(line)
        if _LEAVES.match(code):
            by_block.append([])
    return "\n".join(_all_in_order(without_overwritten(by_block, records), records))


def _all_in_order(blocks: Sequence[Sequence[str | Report]], records: Sequence[Record]) -> Iterator[str]:
    homes: dict[int, set[int]] = {}  # by record, the blocks where it is reported
    for number, block in enumerate(blocks):
        for item in block:
            if isinstance(item, Report):
                homes.setdefault(item.record, set()).add(number)
    for number, block in enumerate(blocks):
        elsewhere = {record for record, blocks_of in homes.items() if blocks_of != {number}}
        for item in in_order(block, records, elsewhere, _is_written):
            yield item if isinstance(item, str) else f"{SET}{item.text}"


def _is_written(line: str, place: str) -> bool:
    """True if a line of code changes the register of a place."""
    return f"%{place.split()[0]}" in written(line)


def _code(line: str) -> str:
    """A line of code or a label without its comment; "" for others."""
    code = _COMMENT.sub("", line)
    return "" if code.startswith(("\t.loc\t", "$L__tmp", "$L__func_")) else code


def _values(body: str, listing: str) -> list[Report]:
    """Each DBG_VALUE of a function, in their order; nothing is in a register where the registers are unknown."""
    names, counts = {}, {}
    for number, kind in sorted({(int(number), kind) for number, kind in _CLASS.findall(listing)}):
        counts[kind] = counts.get(kind, 0) + 1
        names[number] = f"{_PREFIX[kind]}{counts[kind]}"
    declared = {prefix: int(count) - 1 for prefix, count in _DECLARED.findall(body)}
    if declared != {_PREFIX[kind]: count for kind, count in counts.items()}:
        names = {}
    return [
        Report(int(match["number"] or match["several"]), _place(match, names)) for match in _LISTED.finditer(listing)
    ]


def _place(found: re.Match, names: dict[int, str]) -> str:
    """The location in the form of the comments; `?` for one that they cannot express."""
    steps = found["how"].split(", ") if found["how"] else []
    part = ""
    if "DW_OP_LLVM_fragment" in steps:
        at = steps.index("DW_OP_LLVM_fragment")
        part = f" @{steps[at + 1]}:{steps[at + 2]}"
        steps = steps[:at]
    value = _register(found["value"] or "", names) if found["indirect"] != "0" else "?"
    sums = _sums(steps)
    return "?" + part if value == "?" or sums is None else " ".join([value, *sums]) + part


def _sums(steps: list[str]) -> list[str] | None:
    """Signs and numbers of an expression; None for one of another kind."""
    steps, sums = [step for step in steps if step != "DW_OP_stack_value"], []
    while steps:
        name, *steps = steps
        if name == "DW_OP_plus_uconst" and steps:
            sums += ["+", steps.pop(0)]
        elif name in ("DW_OP_constu", "DW_OP_consts") and len(steps) > 1 and steps[1] in _SIGNS:
            sums += [_SIGNS[steps[1]], steps[0]]
            steps = steps[2:]
        else:
            return None
    return sums


def _register(value: str, names: dict[int, str]) -> str:
    if match := re.fullmatch(r"(?:\w+ )*%(\d+)(?::\w+)?", value):
        return names.get(int(match[1]), "?")
    if re.fullmatch(r"-?\d+", value):
        return f"={value}"
    if match := re.fullmatch(r"i\d+ (-?\d+)", value):
        return f"={match[1]}"
    if match := re.fullmatch(r"(float|double) (\S+)", value):
        return _float(*match.groups())
    return "?"


def _float(kind: str, text: str) -> str:
    """The bits of a constant; LLVM writes hexadecimal bits of a double where decimals would not be exact."""
    bits = int(text, 16).to_bytes(8, "little") if re.fullmatch(r"0x[0-9A-F]{16}", text) else None
    try:
        number = struct.unpack("<d", bits)[0] if bits else float(text)
    except ValueError:
        return "?"
    form = {"float": "<f", "double": "<d"}[kind]
    return f"={int.from_bytes(struct.pack(form, number), 'little')}"
