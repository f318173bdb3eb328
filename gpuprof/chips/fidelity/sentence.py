"""How far a chip's numbers can be trusted, in one sentence: recordings and databases carry it, reports shorten it to a
line.
"""

import re

from gpuprof.chips import Chip, list_chips, load_chip
from gpuprof.chips.fidelity import published_kernels
from gpuprof.chips.fidelity.model_figures import Summary, model_version, summary

NOT_COMPARED = "kernel cycles not compared with hardware"
NOT_TIMED = "no kernel timed on hardware"  # the same on a report's line
NO_FIGURES = "no published figures of this chip"
FIGURES = (
    "within 5 % of what is published: {} of {} figures that follow from the model, {} of {} that it was given; worst "
    "{} ({})"
)
LINE = "{}/{} predicted, {}/{} calibrated within 5 %; worst {}"
COMPARED = "cycles of {} launches of kernels compared with such cards: {} % off on average"
TIMED = "{} kernels timed: {} % off"  # the same on a report's line
LIKE = "{} {} % off ({} timed)"  # kernels of the report's kind on its chip
LIKE_ELSEWHERE = "{} {} % off on other chips ({} timed)"


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
    if likeness := published_kernels.of_kind(kind, chip):
        return LIKE.format(kind, percent(likeness.error), likeness.launches)
    if likeness := published_kernels.of_kind(kind):
        return LIKE_ELSEWHERE.format(kind, percent(likeness.error), likeness.launches)
    return ""


def percent(part: float) -> str:
    return f"{100 * part:.0f}"


def line(stored: str, alike: str = "") -> str:
    """A sentence as reports show it: at most 87 characters for gpuprof's own chips. `gpuprof fidelity` names the worst
    figure. `alike` are the words on kernels like the report's, which take the place of those on all. A sentence of
    another wording, from another version, stays as it is.
    """
    figures, _, of_all = stored.rpartition("; ")
    if match := _FIGURES.fullmatch(figures):
        *numbers, _ = match.groups()
        figures = LINE.format(*numbers)
    if match := _COMPARED.fullmatch(of_all):
        of_all = alike or TIMED.format(*match.groups())
    elif of_all == NOT_COMPARED:
        of_all = alike or NOT_TIMED
    return f"{figures}; {of_all}" if figures else of_all
