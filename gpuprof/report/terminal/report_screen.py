"""The output of text pages: a terminal with its width and colours, or a pipe."""

import io
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console
from rich.text import Text

from gpuprof.report.terminal.styles import Look

MIN_WIDTH = 20


def console_for(out: TextIO) -> Console:
    """A console that never adds anything of its own. NO_COLOR, FORCE_COLOR and TERM=dumb are honoured."""
    console = Console(file=out, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if console.no_color:
        console = Console(file=out, highlight=False, markup=False, emoji=False, soft_wrap=True, color_system=None)
    return console


def tolerant(out: TextIO) -> None:
    """Let characters the output's encoding lacks be written out ("\\u2026") instead of failing."""
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="backslashreplace")


def look_for(console: Console, width: int | None = None) -> Look:
    """`width`: the width that the user requests; without it a terminal's own width, and none in a pipe."""
    plain = not console.is_terminal
    if width is None and not plain:
        width = console.width
    blocks = console.encoding.lower().replace("-", "") in ("utf8", "utf16", "utf32")
    colours = {None: "", "standard": "ansi", "windows": "ansi"}.get(console.color_system, "full")
    return Look(width and max(width, MIN_WIDTH), colours, blocks, plain)


def write(lines: Iterable[Text], console: Console) -> None:
    """Each text as one line. Without styles the console has nothing to add, and long listings are twice as quick
    without it.
    """
    if console.color_system is None:
        console.file.writelines(f"{line.plain}\n" for line in lines)
        return
    for line in lines:
        console.print(line, soft_wrap=True, no_wrap=True, crop=False, overflow="ignore")
