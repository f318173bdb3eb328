"""How far a chip's numbers can be trusted, in one sentence: recordings and databases carry it, reports shorten it to a
line.
"""

import re

from gpuprof.base.wording import plural
from gpuprof.chips import Chip, list_chips, load_chip
from gpuprof.chips.fidelity import published_kernels
from gpuprof.chips.fidelity.model_figures import Summary, model_version, summary
from gpuprof.chips.fidelity.published_kernels import of_kind

NOT_COMPARED = "kernel cycles not compared with hardware"
NO_FIGURES = "no published figures of this chip"
FIGURES = (
    "within 5 % of what is published: {} of {} figures that follow from the model, {} of {} that it was given; worst "
    "{} ({})"
)
COMPARED = "cycles of {} launches of kernels compared with such cards: {} % off on average"

# On a report's line.
TIMED = "kernels were {} % off on average against {} timings of real cards"
NOT_TIMED = "no kernel was compared with timings of a real card"
LIKE = "kernels like these were {} % off on average against {} of real cards"
LIKE_ELSEWHERE = "kernels like these were {} % off on average against {} of real cards of other chips"


def _pattern(text: str) -> re.Pattern:
    return re.compile(re.escape(text).replace(r"\{\}", "(.+?)"))


_FIGURES, _COMPARED = _pattern(FIGURES), _pattern(COMPARED)


def sentence(chip: Chip, version: str) -> str:
    """The sentence on a chip that version `version` of the model simulates."""
    if version != model_version():
        return f"figures are those of model {model_version()}, not of {version}; {NOT_COMPARED}"
    if chip.name not in list_chips() or chip != load_chip(chip.name):
        return f"{NO_FIGURES}; {NOT_COMPARED}"
    return f"{of_summary(summary(chip.name))}; {of_kernels(chip.name, version)}"


def of_summary(summary: Summary) -> str:
    if summary.worst is None or summary.worst.difference is None:
        return NO_FIGURES
    given, given_near = summary.published - summary.follows, summary.near - summary.follows_near
    worst = f"{100 * summary.worst.difference:+.0f} %"
    return FIGURES.format(summary.follows_near, summary.follows, given_near, given, worst, summary.worst.figure)


def of_kernels(chip: str, version: str) -> str:
    """A phrase on how well complete kernels agree with cards of a chip."""
    likeness = published_kernels.of_chip(chip) if published_kernels.model_version() == version else None
    return COMPARED.format(likeness.launches, percent(likeness.error)) if likeness else NOT_COMPARED


def like(kind: str, chip: str) -> str:
    """How far the model is off for kernels of a kind (likeness.KINDS) on a chip; "" where none was measured."""
    for text, found in ((LIKE, of_kind(kind, chip)), (LIKE_ELSEWHERE, of_kind(kind))):
        if found:
            return text.format(percent(found.error), plural(found.launches, "timing", "timings"))
    return ""


def percent(part: float) -> str:
    return f"{100 * part:.0f}"


def line(stored: str, alike: str = "") -> str:
    """A sentence as reports show it: what a stranger to the model understands. `gpuprof fidelity` has the figures.
    `alike` are the words on kernels like the report's, which take the place of those on all. A sentence of another
    wording, from another version, stays as it is.
    """
    figures, _, of_all = stored.rpartition("; ")
    if match := _COMPARED.fullmatch(of_all):
        launches, off = match.groups()
        of_all = alike or TIMED.format(off, launches)
    elif of_all == NOT_COMPARED:
        of_all = alike or NOT_TIMED
    if _FIGURES.fullmatch(figures):
        figures = ""
    return f"{figures}; {of_all}" if figures else of_all
