"""Textual changes of a source: an array in shared memory that is padded, a kernel that gets launch bounds.

Only the file itself is looked at, no header. Nothing is parsed: comments and texts in quotes are blanked, and names are
found in the rest. What cannot be changed so is refused.
"""

import re
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import SOURCE, read_input_text
from gpuprof.errors import UsageError

_NO_CODE = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_BOUNDS = re.compile(r"__launch_bounds__\s*\(")
_ZERO = re.compile(r"\s*0[uUlL]*\s*")
OPENING, CLOSING = "([{", ")]}"


class Declared(NamedTuple):
    """A declaration of an array: where its name is, where the text of its last length begins and ends, and how many
    lengths it has. Offsets in characters.
    """

    at: int
    first: int
    last: int
    lengths: int


def source_text(file: Path) -> str:
    """The text as a compiler gets it: bytes that are not UTF-8 pass through."""
    return read_input_text(file, SOURCE, errors="surrogateescape")


def code_of(source: str) -> str:
    """The source with everything that is no code blanked, at the same offsets."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def line_of(source: str, at: int) -> int:
    return source.count("\n", 0, at) + 1


def defines_itself(source: str, name: str) -> int:
    """The line that defines the macro whatever was defined before; 0 where none does, or a condition asks for it."""
    code, word = code_of(source), re.escape(name)
    if re.search(rf"^[ \t]*#[ \t]*(ifndef|ifdef|if|elif|undef)\b.*\b{word}\b", code, re.MULTILINE):
        return 0
    found = re.search(rf"^[ \t]*#[ \t]*define[ \t]+{word}\b", code, re.MULTILINE)
    return line_of(code, found.start()) if found else 0


# --- arrays in shared memory


def padded(source: str, name: str, elements: int, file: str) -> str:
    """The source with `elements` more in the last dimension of the __shared__ arrays of this name. Raises UsageError,
    naming `file`, where there is none, or where its uses would not follow.
    """
    code = code_of(source)
    declarations = _declarations(code, name, file)
    _check_uses(code, name, declarations, file)
    for declared in reversed(declarations if elements else []):
        length = source[declared.first : declared.last]
        source = source[: declared.first] + _sum(length, elements) + source[declared.last :]
    return source


def _declarations(code: str, name: str, file: str) -> list[Declared]:
    found = []
    for start in re.finditer(r"\b__shared__\b", code):
        end = code.find(";", start.end())
        for match in re.finditer(rf"\b{re.escape(name)}\b\s*(?=\[)", code[: max(end, 0)]):
            if match.start() > start.end():
                _check_extern(code, start.start(), name, file)
                found.append(_declared(code, match.start(), match.end()))
    where = f"--vary pad.{name}"
    if not found:
        raise UsageError(f"{where}: {file} has no declaration `__shared__ TYPE {name}[..][..];` of its own")
    for declared in found:
        if declared.lengths < 2:
            place = f"{file}:{line_of(code, declared.at)}"
            raise UsageError(f"{where}: {place}: {name} has one dimension, so more elements would move nothing")
    return found


def _check_extern(code: str, at: int, name: str, file: str) -> None:
    before = code[max(code.rfind(mark, 0, at) for mark in ";{}") + 1 : at]
    if re.search(r"\bextern\b", before):
        raise UsageError(
            f"--vary pad.{name}: {file}:{line_of(code, at)}: {name} is extern: the launch says how large it is"
        )


def _declared(code: str, at: int, first: int) -> Declared:
    spans = _subscripts(code, first)
    return Declared(at, *spans[-1], len(spans))


def _subscripts(code: str, at: int) -> list[tuple[int, int]]:
    """The spans between the brackets of "[..][..]" that begin at `at`."""
    spans = []
    while code[at : at + 1] == "[":
        end = _closed(code, at)
        spans.append((at + 1, end))
        at = end + 1
        at += len(code[at:]) - len(code[at:].lstrip())
    return spans


def _closed(code: str, at: int) -> int:
    """The offset of the bracket that closes the one at `at`; the end where none does."""
    depth = 0
    for index in range(at, len(code)):
        depth += (code[index] in OPENING) - (code[index] in CLOSING)
        if depth == 0:
            return index
    return len(code)


def _check_uses(code: str, name: str, declarations: list[Declared], file: str) -> None:
    """Raises UsageError for a use that does not name one element: it may count on how rows lie in memory."""
    declared_at, lengths = {each.at for each in declarations}, declarations[0].lengths
    for match in re.finditer(rf"((?<!&)&(?!&))?\s*(?<![.\w]){re.escape(name)}\b\s*", code):
        at = match.start() + match[0].index(name)
        if at in declared_at:
            continue
        subscripts = _subscripts(code, match.end())
        is_first = all(_ZERO.fullmatch(code[first:last]) for first, last in subscripts)
        if len(subscripts) < lengths or (match[1] and is_first):
            raise UsageError(
                f"--vary pad.{name}: {file}:{line_of(code, at)}: {name} is used as a flat pointer there, so its rows "
                "cannot be made longer by a change of the declaration"
            )


def _sum(length: str, elements: int) -> str:
    text = length.strip()
    if text.isdecimal():
        return str(int(text) + elements)
    return f"{text if re.fullmatch(r'[A-Za-z_0-9]+', text) else f'({text})'} + {elements}"


# --- launch bounds


def bounded(source: str, kernel: str, threads: int, blocks: int, file: str) -> str:
    """The source whose kernel has __launch_bounds__(threads, blocks); bounds that are there keep their first number.
    `kernel`: as launches name it: "scan<256>". Raises UsageError where the file has no such kernel.
    """
    code = code_of(source)
    plain = re.sub(r"<.*", "", kernel).rpartition("::")[2].strip()
    found = list(re.finditer(rf"\b__global__\b[^;{{}}]*?\b{re.escape(plain)}\s*\(", code))
    if not found:
        raise UsageError(f"--vary min_blocks: {file} has no kernel `__global__ void {plain}(` of its own")
    for match in reversed(found):
        source = _with_bounds(source, code, match, threads, blocks)
    return source


def _with_bounds(source: str, code: str, match: re.Match, threads: int, blocks: int) -> str:
    there = _BOUNDS.search(code, match.start(), match.end())
    if there is None:
        at = match.start() + len("__global__")
        return f"{source[:at]} __launch_bounds__({threads}, {blocks}){source[at:]}"
    end = _closed(code, there.end() - 1)
    first = _first_argument(code, there.end(), end)
    return f"{source[:first]}, {blocks}{source[end:]}"


def _first_argument(code: str, at: int, end: int) -> int:
    """The offset after the first of the arguments between `at` and `end`."""
    depth = 0
    for index in range(at, end):
        if code[index] == "," and depth == 0:
            return index
        depth += (code[index] in OPENING) - (code[index] in CLOSING)
    return end
