"""Progress on a terminal: one line, drawn over and over, that fits whatever width there is."""

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.text import Text

from gpuprof.base.stages import Stage
from gpuprof.cli.progress.words import Words, words

BAR_CELLS = 20
LEAST_TITLE_CELLS = 12  # or a third of the width: a longer title is cut to that before a part is left out
GAP = "  "
BACK, ERASE_BELOW, UP = "\r", "\x1b[J", "\x1b[A"


class Bar:
    """Draws on `stream`, a terminal."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        if self._console.no_color:  # no bold either, as in reports
            self._console = Console(file=stream, highlight=False, markup=False, emoji=False, color_system=None)
        self._cells = 0  # of the line that is on the screen

    def draw(self, stages: Sequence[Stage], now: float, shows_place: bool) -> None:
        back = self._back()
        self._stream.write(back + self._rendered(fitted(words(stages, now), self._console.width - 1, shows_place)))
        self._stream.flush()

    def write(self, text: str) -> None:
        """Writes a line that stays, where the bar was."""
        self._stream.write(f"{self._back()}gpuprof: {text}\n")
        self._stream.flush()

    def erase(self) -> None:
        if self._cells:
            self._stream.write(self._back())
            self._stream.flush()

    def _back(self) -> str:
        """The text that erases the bar. A terminal that has become narrower shows the bar in several rows."""
        if not self._cells:
            return ""
        rows = -(-self._cells // max(1, self._console.width))
        self._cells = 0
        return UP * (rows - 1) + BACK + ERASE_BELOW

    def _rendered(self, parts: list[Text | ProgressBar]) -> str:
        segments: list[Segment] = []
        options = self._console.options.update(no_wrap=True, overflow="crop", height=1)
        for number, part in enumerate(parts):
            segments += [Segment(GAP)] if number else []
            segments += [each for each in self._console.render(part, options) if each.text != "\n"]
        self._cells = sum(each.cell_length for each in segments)
        with self._console.capture() as text:
            self._console.print(_Ready(segments), end="", soft_wrap=True)
        return text.get()


class _Ready:
    """Segments that are styled already."""

    def __init__(self, segments: list[Segment]):
        self._segments = segments

    def __rich_console__(self, console, options):
        yield from self._segments


def fitted(said: Words, cells: int, shows_place: bool) -> list[Text | ProgressBar]:
    """The parts of the line, as many as fit in `cells`: the most important come first, the title is cut last."""
    parts = {
        "title": Text(said.title, style="bold"),
        "bar": ProgressBar(total=1.0, completed=said.share, width=BAR_CELLS) if said.share is not None else None,
        "share": Text(f"{100 * said.share:.0f} %") if said.share is not None else None,
        "count": Text(said.count),
        "cycles": Text(said.cycles),
        "instructions": Text(said.instructions),
        "rate": Text(said.rate),
        "place": Text(f"at {said.place}" if said.place and shows_place else ""),
        "elapsed": Text(said.elapsed, style="cyan"),
        "left": Text(said.left, style="cyan"),
    }
    room, chosen = cells - min(max(LEAST_TITLE_CELLS, cells // 3), parts["title"].cell_len), {"title"}
    for name in MOST_TELLING_FIRST:
        taken = _cells_of(parts[name]) + len(GAP)
        if parts[name] and taken <= room:
            room, chosen = room - taken, {*chosen, name}
    shown = [part for name, part in parts.items() if name in chosen and part]
    left_for_title = cells - sum(_cells_of(part) + len(GAP) for part in shown[1:])
    parts["title"].truncate(max(0, left_for_title), overflow="crop")
    return shown


MOST_TELLING_FIRST = ("elapsed", "share", "place", "left", "count", "instructions", "cycles", "bar", "rate")


def _cells_of(part: Text | ProgressBar | None) -> int:
    if part is None:
        return 0
    return BAR_CELLS if isinstance(part, ProgressBar) else part.cell_len
