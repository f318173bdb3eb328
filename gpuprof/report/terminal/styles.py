"""How a page may look: its width, whether it may use colour and block characters, and the colour and letter of each
reason.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from gpuprof.isa.printing.printable import printable
from gpuprof.isa.vocabularies import NCU, Vocabulary


class Look(NamedTuple):
    """`width` in cells, or None for as wide as the text is (a pipe). `plain`: for grep and awk, one fact per line."""

    width: int | None
    colours: str  # "": none, "ansi": the terminal's sixteen, "full": 256 or more
    blocks: bool  # the encoding has block characters, ellipses and middle dots
    plain: bool
    vocabulary: Vocabulary = NCU  # whose words stall reasons are shown in

    @property
    def ellipsis(self) -> str:
        return "…" if self.blocks else "~"

    @property
    def dot(self) -> str:
        return " · " if self.blocks and not self.plain else ", "

    @property
    def solid(self) -> bool:
        """Bars are coloured blocks; otherwise letters."""
        return bool(self.colours) and self.blocks

    def of_reason(self, name: str) -> str:
        """The reason's colour, "" where there are none."""
        reason = REASON_LOOKS[name]
        return {"": "", "ansi": reason.ansi, "full": reason.colour}[self.colours]


class ReasonLook(NamedTuple):
    letter: str  # in bars without colour
    colour: str
    ansi: str


# By name. Red is memory, yellow arithmetic, blue synchronisation, magenta on-chip memory, cyan instruction fetch, green
# useful work.
REASON_LOOKS: dict[str, ReasonLook] = {
    "selected": ReasonLook("#", "#5faf5f", "green"),
    "not_selected": ReasonLook("n", "#87875f", "white"),
    "wait": ReasonLook("w", "#d7af5f", "yellow"),
    "long_scoreboard": ReasonLook("L", "#d75f5f", "red"),
    "short_scoreboard": ReasonLook("S", "#af5faf", "magenta"),
    "barrier": ReasonLook("B", "#5f87d7", "blue"),
    "membar": ReasonLook("M", "#5f5fd7", "bright_blue"),
    "mio_throttle": ReasonLook("i", "#d787d7", "bright_magenta"),
    "lg_throttle": ReasonLook("g", "#ff875f", "bright_red"),
    "tex_throttle": ReasonLook("t", "#af8787", "bright_red"),
    "math_pipe_throttle": ReasonLook("m", "#d7d75f", "bright_yellow"),
    "dispatch_stall": ReasonLook("d", "#8787af", "bright_black"),
    "imc_miss": ReasonLook("c", "#5fafaf", "cyan"),
    "no_instructions": ReasonLook("f", "#5fd7d7", "bright_cyan"),
    "branch_resolving": ReasonLook("b", "#87afd7", "bright_green"),
    "drain": ReasonLook("D", "#af5f87", "bright_white"),
    "sleeping": ReasonLook("z", "#6c6c6c", "bright_black"),
    "warpgroup_arrive": ReasonLook("a", "#875fd7", "bright_blue"),
    "misc": ReasonLook("?", "#9e9e9e", "bright_black"),
}

DIM = Style(dim=True)
BOLD = Style(bold=True)
HOT = Style(color="#ff5f5f", bold=True)
WARM = Style(color="#d7af5f")


def shown(text: str) -> str:
    """Text from a file, a source or a user, safe on a terminal: control characters are made visible, tabs become
    spaces.
    """
    return printable(text.expandtabs(4).rstrip("\r\n"))


KEYWORDS = (
    "auto bool break case char class const constexpr continue do double else enum float for goto if inline int long "
    "namespace return short signed size_t sizeof static struct switch template typename union unsigned using void "
    "volatile while __global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __syncthreads"
)
TOKEN = re.compile(
    r"(?P<comment>//.*|/\*.*?(?:\*/|$))"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<keyword>\b(?:" + "|".join(KEYWORDS.split()) + r")\b)"
    r"|(?P<directive>^\s*#\s*\w+)"
)
TOKEN_STYLES = {
    "comment": Style(color="#767676"),
    "string": Style(color="#87af87"),
    "keyword": Style(color="#87afd7"),
    "directive": Style(color="#af87af"),
}


def coloured(code: str) -> Text:
    """A source line with its comments, strings and keywords coloured; it reads one line at a time and may be wrong."""
    text = Text(code)
    for match in TOKEN.finditer(code):
        text.stylize(TOKEN_STYLES[match.lastgroup or ""], *match.span())
    return text


def fitted(text: Text, width: int, look: Look) -> Text:
    """The text cut to `width` cells, an ellipsis at its end when something was cut."""
    if cell_len(text.plain) <= width:
        return text
    kept = set_cell_size(text.plain, max(width - 1, 0)).rstrip()
    cut = text[: len(kept)]
    cut.append(look.ellipsis)
    return cut if width > 0 else Text("")


def clipped(text: Text, look: Look) -> Text:
    """The text cut to the page's width, if it has one."""
    return fitted(text, look.width, look) if look.width is not None else text


def flow(prefix: Text, parts: Sequence[Text | str], look: Look) -> Iterator[Text]:
    """The parts after the prefix, joined by dots; in lines no wider than the page, indented like the first, and broken
    between parts, or between the words of a part that is wider than a line."""
    line, indent = prefix.copy(), cell_len(prefix.plain)
    for index, (separator, piece) in enumerate(_pieces(parts, look, indent)):
        if (
            index
            and look.width is not None
            and cell_len(line.plain) + cell_len(separator) + cell_len(piece.plain) > look.width
        ):
            yield clipped(line, look)
            line = Text(("#" if look.plain else "").ljust(min(indent, look.width // 3)))
            separator = ""
        line.append(separator)
        line.append_text(piece)
    yield clipped(line, look)


def _pieces(parts: Sequence[Text | str], look: Look, indent: int) -> Iterator[tuple[str, Text]]:
    """The parts that no line break may split, each with the separator before it."""
    for index, part in enumerate(parts):
        part = Text(part) if isinstance(part, str) else part
        fits = look.width is None or indent + cell_len(part.plain) <= look.width
        for number, piece in enumerate([part] if fits else part.split(" ")):
            yield (" " if number else look.dot if index else ""), piece


def wrapped(text: str, cells: int) -> list[str]:
    """Words in lines of at most `cells` cells; a longer word has a line of its own."""
    lines = [""]
    for word in text.split():
        candidate = f"{lines[-1]} {word}".strip()
        if lines[-1] and cell_len(candidate) > cells:
            lines.append(word)
        else:
            lines[-1] = candidate
    return lines


def remark(words: str, look: Look) -> Iterator[Text]:
    """A remark below a table, wrapped; in a pipe its lines start with #."""
    first = "# " if look.plain else ""
    for line in wrapped(words, look.width - len(first)) if look.width else [words]:
        yield Text(first + line, DIM)
