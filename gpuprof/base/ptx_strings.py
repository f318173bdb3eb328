"""Strings of PTX between their quotes, as LLVM writes them: with the escapes of C, and three octal digits of a byte."""

import re

_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def quoted(text: str) -> str:
    """The text with escapes, for between quotes."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}" if found[0] in '"\\' else f"\\{ord(found[0]):03o}", text)


def unquoted(text: str) -> str:
    """The inverse of `quoted`. Bytes that are no UTF-8 are replaced."""

    def byte(found: re.Match) -> bytes:
        return bytes([int(found[1], 8) & 255]) if len(found[1]) == 3 else _LETTERS.get(found[1], found[1])

    return _ESCAPED.sub(byte, text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")
