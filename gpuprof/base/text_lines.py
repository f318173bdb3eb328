"""Texts of the user's: UTF-8, with or without a byte order mark."""

import codecs
from functools import lru_cache
from pathlib import Path

from gpuprof.errors import UsageError

OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # first: it begins as the next one does
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def decoded(data: bytes, path: Path | str, errors: str = "strict") -> str:
    """The text in a file's bytes, with "\\n" at the ends of lines, without a byte order mark. `errors`: as for
    `bytes.decode`.

    Raises UnicodeDecodeError, and UsageError for UTF-16 and UTF-32.
    """
    other = next((name for mark, name in OTHER_MARKS.items() if data.startswith(mark)), None)
    if other is None and b"\0" in data[:2]:  # the first letter, without a mark before it
        other = "UTF-16"
    if other:
        raise UsageError(f"{path}: is {other} text; save it as UTF-8")
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=16)  # thousands of kernels may share a module's text
def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text as compilers count them. `str.splitlines` ends lines at form feeds, too, which shifts all
    that follow.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)
