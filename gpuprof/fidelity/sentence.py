"""One line on how far a chip's numbers can be trusted: every report, recording and database carries it."""

from gpuprof.chips import Chip, list_chips, load_chip
from gpuprof.fidelity.stored import Summary, model_version, summary

NOT_COMPARED = "kernel cycles not compared with hardware"


def sentence(chip: Chip, version: str) -> str:
    """For a chip as it is simulated by version `version` of the model."""
    if version != model_version():
        return f"figures are those of model {model_version()}, not of {version}; {NOT_COMPARED}"
    if chip.name not in list_chips() or chip != load_chip(chip.name):
        return f"no published figures of this chip; {NOT_COMPARED}"
    return f"{of_summary(summary(chip.name))}; {NOT_COMPARED}"


def of_summary(found: Summary) -> str:
    if not found.published:
        return "no published figures of this chip"
    given, given_near = found.published - found.follows, found.near - found.follows_near
    worst = f"{100 * found.worst.difference:+.0f} % ({found.worst.figure})"
    return (
        f"within 5 % of what is published: {found.follows_near} of {found.follows} figures that follow from the model, "
        f"{given_near} of {given} that it was given; worst {worst}"
    )
