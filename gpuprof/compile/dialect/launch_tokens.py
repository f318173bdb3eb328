"""Launches whose tokens have spaces in them, as Visual Studio formats them: `kernel << <grid, block >> > (x)`.

nvcc joins `<<` with a `<` of its line. `<< <` means nothing else in C++, except after `operator`. At the other end,
`>> >` may close three templates, so it ends the launch only where no more than that is open:

    k << <1, size<2>::value >> > (x)         k  <<<1, size<2>::value  >>>(x)
    k<< <1, f(box<box<int> >()) >> > (x)     k <<<1, f(box<box<int> >())  >>>(x)

The other way round, `operator<<<T>` is an operator with a template's argument. And nvcc makes a dim3 of `{64, 2}` in a
configuration. What follows text that is put in stays in its column on a line of its own.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.compile.dialect.edits import Edit, inserted

_SPACE = r"(?:[ \t]|/\*[^\n]*?\*/)*"
_TOKEN = re.compile(
    rf"""
      (?P<skipped> //(?:\\\n|[^\n])* | /\*.*?\*/ | R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"
        | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+' )
    | (?P<line> (?<!\\)\n )
    | (?P<operator> \boperator\b\s*<<(?P<argument><(?!=))? )
    | (?P<less> < (?: {_SPACE} < )* )
    | (?P<greater> > (?: {_SPACE} > | (?<=>>) \s* > )* )
    | (?P<arrow> -> )
    | (?P<bracket> [(){{}}\[\];] )
    | (?P<directive> (?m:^)[ \t]*\# )
    """,
    re.VERBOSE | re.DOTALL,
)
_LESS = re.compile(rf"<<{_SPACE}<")
_GREATER = re.compile(rf">>(?:{_SPACE}|\s*)>\Z")


_BRACES = re.compile(r"[<,]\s*\{\Z")  # as a whole argument


class _Launch:
    """A launch whose end is looked for: how many brackets and templates are open in its configuration."""

    def __init__(self):
        self.brackets = 0
        self.templates = 0


def launch_edits(source: str) -> list[Edit]:
    """The edits that join the tokens of launches."""
    return list(_edits(source)) if "<<" in source else []


def _edits(source: str) -> Iterator[Edit]:
    launch, is_directive = None, False
    for token in _tokens(source):
        if token.kind in ("directive", "line"):
            if token.kind == "directive" or is_directive:
                launch = None
            is_directive = token.kind == "directive"
        elif token.kind == "operator":
            space = inserted(source, token.end - 1, " ") if token.text.endswith("<<<") else None
            yield from (space,) if space else ()
        elif token.kind == "less" and _LESS.fullmatch(token.text):
            launch = _Launch()
            yield from _joined(token, "<<<")
        elif token.kind == "bracket":
            if (
                launch
                and not launch.brackets
                and token.text == "{"
                and _BRACES.search(source[max(0, token.end - 200) : token.end])
            ):
                yield from filter(None, [inserted(source, token.start, "dim3")])
            launch = _within(launch, token.text)
        elif token.kind == "less" and launch and not launch.brackets and token.text == "<":
            launch.templates += _names_template(source, token.start)
        elif token.kind == "greater" and (launch is None or not launch.brackets):
            closed = token.text.count(">")
            if (launch or is_directive) and _ends_launch(token, closed, launch.templates if launch else 0):
                yield from _joined(token, ">>>")
                launch = None
            elif launch:
                launch.templates = max(0, launch.templates - closed)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def _tokens(source: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(source):
        if match.lastgroup != "skipped" and match["skipped"] is None:
            kind = "operator" if match["operator"] else match.lastgroup
            yield _Token(kind, match[0], match.start(), match.end())


def _within(launch: _Launch | None, bracket: str) -> _Launch | None:
    """The launch after a bracket; none any more where the bracket closes what the launch is in."""
    if launch:
        launch.brackets += 1 if bracket in "({[" else -1 if bracket in ")}]" else 0
    return None if launch is None or launch.brackets < 0 or (bracket == ";" and not launch.brackets) else launch


def _ends_launch(token: _Token, closed: int, templates: int) -> bool:
    """True if a token is the end of a launch, and not that of so many open templates."""
    return _GREATER.search(token.text) is not None and (closed - 3 == templates or closed == 3 > templates)


def _joined(token: _Token, joined: str) -> Iterator[Edit]:
    """The last three characters of a token that has spaces, put together at its end."""
    text = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), token.text)
    if text.endswith(joined):
        return
    closing = "".join(text.split())[:-3]  # of templates
    first, newline, last = text[len(closing) :].rpartition("\n")
    kept = min(len(last), 3)  # what the last line has room for; a line that ends in \ continues in the next one
    lines = re.sub(r"[^\n]", " ", first)
    if newline and kept < 3:
        lines = lines[: kept - 3] + joined[kept:] + "\\"
    yield Edit(token.start, token.end, closing + lines + newline + " " * (len(last) - kept) + joined[:kept])


def _names_template(source: str, at: int) -> bool:
    """True if the `<` at a place follows a name without a space, as a template's argument list does."""
    return at > 0 and (source[at - 1].isalnum() or source[at - 1] == "_")
