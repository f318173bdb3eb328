"""How a page may look: its width, whether it may use colour and block characters, and the colour and letter of each reason."""

from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from gpuprof.isa.printable import printable


class Look(NamedTuple):
    """`width` in cells, or None for as wide as the text is (a pipe). `plain`: for grep and awk, one fact per line."""

    width: int | None
    colour: bool
    blocks: bool  # the encoding has block characters, ellipses and middle dots
    plain: bool

    @property
    def ellipsis(self) -> str:
        return "…" if self.blocks else "~"

    @property
    def dot(self) -> str:
        return " · " if self.blocks and not self.plain else ", "


class ReasonLook(NamedTuple):
    letter: str  # in bars without colour
    colour: str


# By name; red is memory, yellow arithmetic, blue synchronisation, magenta on-chip memory, green useful work.
REASON_LOOKS: dict[str, ReasonLook] = {
    "selected": ReasonLook("#", "#5faf5f"),
    "not_selected": ReasonLook("n", "#87875f"),
    "wait": ReasonLook("w", "#d7af5f"),
    "long_scoreboard": ReasonLook("L", "#d75f5f"),
    "short_scoreboard": ReasonLook("S", "#af5faf"),
    "barrier": ReasonLook("B", "#5f87d7"),
    "membar": ReasonLook("M", "#5f5fd7"),
    "mio_throttle": ReasonLook("i", "#d787d7"),
    "lg_throttle": ReasonLook("g", "#ff875f"),
    "tex_throttle": ReasonLook("t", "#af8787"),
    "math_pipe_throttle": ReasonLook("m", "#d7d75f"),
    "dispatch_stall": ReasonLook("d", "#8787af"),
    "imc_miss": ReasonLook("c", "#5fafaf"),
    "no_instructions": ReasonLook("f", "#5fd7d7"),
    "branch_resolving": ReasonLook("b", "#87afd7"),
    "drain": ReasonLook("D", "#af5f5f"),
    "sleeping": ReasonLook("z", "#6c6c6c"),
    "warpgroup_arrive": ReasonLook("a", "#875fd7"),
    "misc": ReasonLook("?", "#9e9e9e"),
}

DIM = Style(dim=True)
BOLD = Style(bold=True)
HOT = Style(color="#ff5f5f", bold=True)
WARM = Style(color="#d7af5f")


def shown(text: str) -> str:
    """Text from a file, a source or a user, safe on a terminal: control characters are made visible, tabs become spaces."""
    return printable(text.expandtabs(4).rstrip("\r\n"))


def fitted(text: Text, width: int, look: Look) -> Text:
    """The text cut to `width` cells, an ellipsis at its end when something was cut."""
    if cell_len(text.plain) <= width:
        return text
    kept = set_cell_size(text.plain, max(width - 1, 0)).rstrip()
    cut = text[: len(kept)]
    cut.append(look.ellipsis)
    return cut if width > 0 else Text("")
