"""PTX text to tokens with positions. One regular expression does the whole lexing, so that 50,000 lines take well under
a second.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

from gpuprof.errors import PtxError

# Order matters: a hexadecimal float starts like an integer, an instruction name with its modifiers is one word. A
# comment without an end is an error where it starts, not a division: or each start would be looked for an end.
_TOKEN = re.compile(
    r"""
  \s*
  (?:
    (?P<word>[A-Za-z_$%][\w$]*(?:(?:\.|::)\w+)*)
  | (?P<dot>\.[A-Za-z_]\w*(?:::\w+)*)
  | (?P<number>0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w)|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
      |(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<comment>//[^\n]*|/\*(?s:.*?)\*/)
  | (?P<punct><<|>>|<=|>=|==|!=|&&|\|\||[{}()\[\],;:<>=@!+\-*|&~^%?]|/(?!\*))
  | (?P<end>\Z)
  )
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    kind: str  # "word", "dot", "number", "string", "punct", "end"
    text: str
    offset: int  # characters from the start of the text


class Positions:
    """Turns character offsets into lines and columns, both counted from 1."""

    def __init__(self, text: str):
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def column(self, offset: int) -> int:
        return self.place(offset)[1]

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def tokenize(text: str, name: str = "") -> list[Token]:
    """All tokens of a PTX text, the last one of kind "end". Raises PtxError at a character that starts no token."""
    tokens: list[Token] = []
    position = 0
    match_at = _TOKEN.match
    new = Token._make
    while match := match_at(text, position):
        kind = match.lastgroup
        position = match.end()
        if kind == "comment":
            continue
        token = match[kind]
        tokens.append(new((kind, token, position - len(token))))
        if kind == "end":
            tokens[-1] = Token(kind, "end of file", position)
            return tokens
    position = len(text) - len(text[position:].lstrip())
    where = Positions(text)
    raise PtxError(f"unexpected character {text[position]!r}", name, where.line(position), where.column(position))
