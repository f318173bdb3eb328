"""A reason mix as a small bar: coloured eighths of a cell, or letters where there is no colour."""

from rich.text import Text

from gpuprof.isa.stalls import NAMES
from gpuprof.report.model import ranked
from gpuprof.report.terminal.styles import REASON_LOOKS, Look

EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(reasons: tuple[int, ...], fraction: float, cells: int, look: Look) -> Text:
    """A bar that fills `fraction` of `cells`, divided between the reasons in proportion, largest first."""
    if not sum(reasons) or fraction <= 0:
        return Text("")
    reasons = look.vocabulary.merged(reasons)
    if not look.solid:
        return letters(reasons, max(1, round(fraction * cells)), look)
    eighths = max(1, round(fraction * cells * 8))
    full, rest = divmod(eighths, 8)
    order = ranked(reasons)
    cells_of = apportion([reasons[r] for r in order], max(full, 1))
    text = Text()
    for reason, n in zip(order, cells_of, strict=True):
        if n and full:
            text.append("█" * n, look.of_reason(NAMES[reason]))
    if rest:
        last = next(reason for reason, n in reversed(list(zip(order, cells_of, strict=True))) if n)
        text.append(EIGHTHS[rest], look.of_reason(NAMES[last]))
    return text


def letters(reasons: tuple[int, ...], cells: int, look: Look) -> Text:
    text = Text()
    order = ranked(reasons)
    for reason, n in zip(order, apportion([reasons[r] for r in order], cells), strict=True):
        text.append(REASON_LOOKS[NAMES[reason]].letter * n, look.of_reason(NAMES[reason]))
    return text


def apportion(weights: list[int], cells: int) -> list[int]:
    """Whole cells in proportion to weights, by largest remainder; earlier ones win ties. Sums to `cells`."""
    whole = sum(weights)
    exact = [weight * cells / whole for weight in weights]
    given = [int(share) for share in exact]
    order = sorted(range(len(weights)), key=lambda i: (given[i] - exact[i], i))
    for index in order[: cells - sum(given)]:
        given[index] += 1
    return given


def legend(reasons: tuple[int, ...], look: Look, at_most: int = 8) -> list[Text]:
    """The reasons in a mix and how the bar shows them, largest first."""
    return [
        Text()
        .append("█" if look.solid else REASON_LOOKS[NAMES[reason]].letter, look.of_reason(NAMES[reason]))
        .append(f" {look.vocabulary.word(reason)}")
        for reason in ranked(look.vocabulary.merged(reasons))[:at_most]
    ]
