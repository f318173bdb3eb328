"""How far a chip's numbers can be trusted, in one sentence: recordings and databases carry it, reports shorten it to a
line.
"""

import re

from gpuprof.chips import Chip, list_chips, load_chip
from gpuprof.fidelity.stored import Summary, model_version, summary

NOT_COMPARED = "kernel cycles not compared with hardware"
NOT_TIMED = "no kernel timed on hardware"  # the same on a report's line
FIGURES = (
    "within 5 % of what is published: {} of {} figures that follow from the model, {} of {} that it was given; worst "
    "{} ({})"
)
LINE = "{}/{} predicted, {}/{} calibrated within 5 %; worst {}"
_STORED = re.compile(re.escape(f"{FIGURES}; {NOT_COMPARED}").replace(r"\{\}", "(.+?)"))


def sentence(chip: Chip, version: str) -> str:
    """The sentence on a chip that version `version` of the model simulates."""
    if version != model_version():
        return f"figures are those of model {model_version()}, not of {version}; {NOT_COMPARED}"
    if chip.name not in list_chips() or chip != load_chip(chip.name):
        return f"no published figures of this chip; {NOT_COMPARED}"
    return f"{of_summary(summary(chip.name))}; {NOT_COMPARED}"


def of_summary(found: Summary) -> str:
    if not found.published:
        return "no published figures of this chip"
    given, given_near = found.published - found.follows, found.near - found.follows_near
    worst = f"{100 * found.worst.difference:+.0f} %"
    return FIGURES.format(found.follows_near, found.follows, given_near, given, worst, found.worst.figure)


def line(stored: str) -> str:
    """A sentence as reports show it: at most 87 characters for gpuprof's own chips. `gpuprof fidelity` names the worst
    figure. A sentence of another wording, from another version, stays as it is.
    """
    if found := _STORED.fullmatch(stored):
        *figures, _ = found.groups()
        return f"{LINE.format(*figures)}; {NOT_TIMED}"
    return stored.replace(NOT_COMPARED, NOT_TIMED)
