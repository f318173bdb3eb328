"""The debug sections of PTX text as bytes. A label of the code is represented by the number of its line, and any other
symbol by a number above those (SYMBOL_STEP), so that offsets can be added to it.
"""

import re
from typing import NamedTuple

from gpuprof.errors import FileFormatError

SYMBOL_STEP = 1 << 40
_SECTION = re.compile(r"^\s*\.section\s+(\.debug_\w+)\s*$")
_DATA = re.compile(r"^\s*\.b(8|16|32|64)\s+(.*?);?\s*$")
_LABEL = re.compile(r"^\s*([$\w.]+):")
_TERM = re.compile(r"([+-]?)\s*([$.\w]+)")


class Sections(NamedTuple):
    """`data`: name -> bytes; `symbols`: the names of the symbols, number k is represented by (k + 1) * SYMBOL_STEP."""

    data: dict[str, bytes]
    symbols: list[str]


def read_sections(ptx: str) -> Sections:
    """The sections of the PTX; empty if there are none. Raises FileFormatError for a section that is not data."""
    lines = ptx.split("\n")
    code, offsets, items = _read(lines)
    symbols: list[str] = []
    data = {name: bytearray() for name in items}
    for name, contents in items.items():
        for nbytes, text in contents:
            value = _value(text, code, offsets, symbols)
            data[name] += (value & (1 << 8 * nbytes) - 1).to_bytes(nbytes, "little")
    return Sections({name: bytes(content) for name, content in data.items()}, symbols)


def _read(lines: list[str]) -> tuple[dict[str, int], dict[str, int], dict[str, list[tuple[int, str]]]]:
    """Lines of the code's labels; offsets of the sections' labels; and the contents of the sections: sizes and
    texts.
    """
    code: dict[str, int] = {}
    offsets: dict[str, int] = {}
    items: dict[str, list[tuple[int, str]]] = {}
    section, offset = "", 0
    for number, text in enumerate(lines, 1):
        line = text.partition("//")[0]  # Triton explains each number in a comment
        if head := _SECTION.match(line):
            section, offset = head[1], 0
            items.setdefault(section, [])
            offsets[section] = 0
        elif section and line.strip() == "}":
            section = ""
        elif label := _LABEL.match(line):
            (offsets if section else code)[label[1]] = offset if section else number
        elif section and (data := _DATA.match(line)):
            nbytes = int(data[1]) // 8
            texts = data[2].split(",")
            items[section] += [(nbytes, text.strip()) for text in texts]
            offset += nbytes * len(texts)
    return code, offsets, items


def _value(text: str, code: dict[str, int], offsets: dict[str, int], symbols: list[str]) -> int:
    total, end = 0, 0
    for term in _TERM.finditer(text):
        if text[end : term.start()].strip():
            break
        sign, name, end = -1 if term[1] == "-" else 1, term[2], term.end()
        total += sign * _term(name, code, offsets, symbols)
    if text[end:].strip() or not end:
        raise FileFormatError(f"a debug section of the PTX has {text!r:.40}, which is not a number")
    return total


def _term(name: str, code: dict[str, int], offsets: dict[str, int], symbols: list[str]) -> int:
    if name[0].isdigit():
        return int(name, 0) if not re.fullmatch(r"0\d+", name) else int(name, 8)
    if name in code or name in offsets:
        return code[name] if name in code else offsets[name]
    if name.startswith("."):
        return 0  # a section that is not there
    if name not in symbols:
        symbols.append(name)
    return (symbols.index(name) + 1) * SYMBOL_STEP
