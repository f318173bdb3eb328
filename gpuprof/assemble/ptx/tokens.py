"""PTX text to tokens with positions. One regular expression does the whole lexing, so that 50,000 lines take well under
a second.
"""

import re
from array import array
from bisect import bisect_right
from itertools import accumulate
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
        # Of each line, and one more: the first characters, which the end of the text is before.
        self.starts = array("q", accumulate((len(line) + 1 for line in text.split("\n")), initial=0))

    def line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def column(self, offset: int) -> int:
        return self.place(offset)[1]

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def tokenize(text: str, name: str = "") -> list[Token]:
    """All tokens of a PTX text, the last one of kind "end". Raises PtxError at a character that starts no token."""
    tokens: list[Token] = []
    read_tokens(text, name, 0, tokens, len(text) + 1)
    return tokens


def read_tokens(text: str, name: str, position: int, tokens: list[Token], count: int) -> int:
    """Appends `count` tokens from a position on, fewer at the end of the text; the position after them. Raises PtxError
    at a character that starts no token.
    """
    match_at = _TOKEN.match
    new = Token._make
    last = len(tokens) + count
    while len(tokens) < last and (match := match_at(text, position)):
        kind = match.lastgroup
        position = match.end()
        if kind == "comment":
            continue
        token = match[kind]
        if kind == "end":
            tokens.append(Token(kind, "end of file", position))
            return position
        tokens.append(new((kind, token, position - len(token))))
    if len(tokens) == last:
        return position
    position = len(text) - len(text[position:].lstrip())
    where = Positions(text)
    raise PtxError(f"unexpected character {text[position]!r}", name, where.line(position), where.column(position))
