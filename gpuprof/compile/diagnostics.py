"""The messages of a compiler, one by one."""

import re
from collections.abc import Iterable, Iterator

# "a.cu:3:5: error: ...", "clang: error: ..."; the lines that lead to it begin with "In file included from".
_HEAD = re.compile(r"(?:\./)?(\S.*?: (?:fatal error|error|warning): .*)")
_LEADS = ("In file included from ", "In module ")
_SUMMARY = re.compile(r"\d+ (?:error|warning)s?(?: and \d+ errors?)? generated")


def without_repeated(text: str, others: Iterable[str]) -> str:
    """The messages of a text whose first lines are in none of the other texts; "" where no error is left."""
    known = {head for other in others for head, _ in _messages(other)}
    left = [(head, lines) for head, lines in _messages(text) if head not in known]
    if len(left) == len(list(_messages(text))):
        return text
    if not any("error: " in head for head, _ in left):
        return ""
    return "".join(lines for _, lines in left)


def _messages(text: str) -> Iterator[tuple[str, str]]:
    """The first line of each message, without the lines that lead to it, and the whole text of it."""
    head, lines, leading = "", "", ""
    for line in text.splitlines(keepends=True):
        if line.startswith(_LEADS):
            leading += line
        elif found := _HEAD.match(line):
            if head:
                yield head, lines
            head, lines, leading = found[1].rstrip(), leading + line, ""
        elif not _SUMMARY.match(line):
            lines, leading = lines + leading + line, ""
    if head:
        yield head, lines
