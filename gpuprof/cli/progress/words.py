"""Open stages in words: the parts of a line about them."""

from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.base.stages import Stage
from gpuprof.isa.printing.printable import printable

LEAST_SECONDS_FOR_RATE = 1.0  # of work, before its rate says anything
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class Words(NamedTuple):
    """The parts of a line, each "" where there is nothing to say. `share`: of the work that is done, None where that is
    not known.
    """

    title: str
    share: float | None
    count: str
    cycles: str
    instructions: str
    rate: str
    elapsed: str
    left: str
    place: str


def words(stages: Sequence[Stage], now: float) -> Words:
    """The line on the stages (at least one) at time.monotonic() `now`."""
    main = stages[-1]
    seconds = now - main.since
    # A stage without a count (a compiler) holds up the stages around it, whose numbers do not change.
    moving = stages if main.unit else (main,)
    return Words(
        title=title(stages),
        share=min(1.0, main.done / main.of) if main.of else None,
        count=_count(main),
        cycles=_number(cycles(moving), "cycles"),
        instructions=_number(warp_instructions(moving), "warp instructions"),
        rate=_rate(moving, now),
        elapsed=duration(seconds),
        left=_left(main, seconds),
        place=place(moving),
    )


def cycles(stages: Sequence[Stage]) -> int:
    return max(each.cycles for each in stages)


def warp_instructions(stages: Sequence[Stage]) -> int:
    return max(each.warp_instructions for each in stages)


def place(stages: Sequence[Stage]) -> str:
    return next((printable(each.place) for each in reversed(stages) if each.place), "")


def title(stages: Sequence[Stage]) -> str:
    """ "run 2 of 8: launch 1 of 3: saxpy<<<64, 256>>>". One of one is not worth saying."""
    labels = [
        _numbered(each) if each.each else printable(each.what)
        for each in stages[:-1]
        if not (each.each and each.of == 1)
    ]
    labels.append(printable(stages[-1].what))
    return ": ".join(filter(None, labels))


def _numbered(stage: Stage) -> str:
    if stage.of is None:
        return f"{stage.each} {stage.done + 1:,}"
    return f"{stage.each} {min(stage.done + 1, stage.of):,} of {stage.of:,}"


def _count(stage: Stage) -> str:
    if not stage.unit or stage.of == 1:
        return ""
    failed = f", {stage.failed:,} failed" if stage.failed else ""
    if stage.of is None:
        return f"{stage.done:,} {stage.unit}{failed}"
    return f"{stage.done:,} of {stage.of:,} {stage.unit}{failed}"


def _number(value: int, what: str) -> str:
    return f"{value:,} {what}" if value else ""


def _rate(stages: Sequence[Stage], now: float) -> str:
    for each in stages:
        if each.warp_instructions and now - each.since >= LEAST_SECONDS_FOR_RATE:
            return f"{with_prefix(each.warp_instructions / (now - each.since))}/s"
    return ""


def _left(stage: Stage, seconds: float) -> str:
    if seconds < LEAST_SECONDS_FOR_RATE or not stage.of or not 0 < stage.done < stage.of:
        return ""
    return f"{duration(seconds * (stage.of - stage.done) / stage.done)} left"


def with_prefix(value: float) -> str:
    """2100000 is "2.1 M"."""
    for factor, prefix in PREFIXES:
        if value >= factor:
            return f"{value / factor:.1f} {prefix}"
    return f"{value:.0f} "


def duration(seconds: float) -> str:
    """ "12 s", "3 min 20 s", "2 h 5 min"."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
