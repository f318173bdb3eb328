"""Triage of the samples themselves: were there enough, do they say what the exact numbers say, and if not, what would
help.
"""

from collections.abc import Iterator

from gpuprof.base.wording import base_name, percent0, plural
from gpuprof.correlate.advice.kernel_costs import LINES_PER_RULE
from gpuprof.report.estimates import Estimate, Scale, scale_of, wilson
from gpuprof.report.model import Row
from gpuprof.report.number_text import grouped
from gpuprof.report.triage.findings import Case, Finding, line_name
from gpuprof.report.triage.ranking import Overlap, overlaps
from gpuprof.report.triage.resonance import resonances

MIN_SAMPLES = 1000
MISLEADING_SHARE = 0.05  # ours: that far apart, two lines may change places
RANKED_SHARE = 0.05  # ours: below it a line's place among the others is not worth a sentence


def sampling(case: Case) -> Iterator[Finding]:
    launches = case.kernel.launches
    kept, dropped = sum(launch.samples_kept for launch in launches), sum(launch.samples_dropped for launch in launches)
    if dropped:
        full, remedy = FULL[
            any(fifo for _, fifo, _ in case.header.losses), any(buffer for _, _, buffer in case.header.losses)
        ]
        yield Finding(
            "sampling",
            f"{plural(dropped, 'sample was', 'samples were')} dropped, since {full} full; the rest favours the "
            f"warps that came first: collect with {remedy}.",
        )
    if case.header.period_cycles and 0 < kept < MIN_SAMPLES:
        sure = "; use the exact column" if case.kernel.cost.warp_cycles else ""
        yield Finding(
            "sampling",
            f"{plural(kept, 'sample is', 'samples are')} few: a share is known only to within its interval{sure}.",
        )


# by whether FIFOs dropped samples, and whether the event buffer did: what was full, and what helps; old recordings do
# not store it
FULL = {
    (False, False): ("a buffer was", "a longer --period"),
    (True, False): ("FIFOs were", "a longer --period or a larger --fifo"),
    (False, True): ("the event buffer was", "a longer --period, a larger --buffer or a shorter --poll"),
    (True, True): (
        "FIFOs and the event buffer were",
        "a longer --period, or a larger --fifo and a larger --buffer or a shorter --poll",
    ),
}


def sampled_beside_exact(case: Case) -> Iterator[Finding]:
    """Costly lines whose exact share is outside the interval of the sampled one by enough to mislead, and where weights
    correct it.
    """
    whole, scale = case.kernel.cost, scale_of(case.kernel)
    if not whole.n_samples or not whole.warp_cycles or case.header.mode != "random" or not case.header.samples_time:
        return
    for path, row in case.worst(lambda row: row.cost.warp_cycles):
        exact, sampled = row.cost.warp_cycles / whole.warp_cycles, row.cost.n_samples / whole.n_samples
        low, high = wilson(row.cost.n_samples, whole.n_samples)
        if (
            abs(sampled - exact) >= MISLEADING_SHARE
            and not low <= exact <= high
            and (scale.estimate(row.cost).holds or not scale.weighted)
        ):
            yield Finding(
                "sampled_beside_exact",
                f"{percent0(sampled)} of the samples are at {line_name(path, row)}, but {percent0(exact)} of the "
                f"warps' time is spent there: each sample is one warp of an SM, so nearly empty SMs count too much. "
                f"{weighed(scale, row)}Use the exact column.",
                path,
                row.number,
            )
            return


def weighed(scale: Scale, row: Row) -> str:
    """How the column of the samples differs from their number."""
    if not scale.weighted:
        return ""
    return (
        f"The sampled column weighs them by the warps that they stand for: {percent0(scale.estimate(row.cost).share)}. "
    )


def too_thin(case: Case) -> Iterator[Finding]:
    """Lines that the samples cannot put in order."""
    scale = scale_of(case.kernel)
    if not scale.whole or not case.header.samples_time or resonances(case.kernel, case.header.period_cycles):
        return
    lines = {line_name(path, row): scale.estimate(row.cost) for path, row in case.lines()}
    worth = [
        (name, estimate) for name, estimate in lines.items() if max(estimate.share, estimate.exact or 0) >= RANKED_SHARE
    ]
    pairs = overlaps(worth, scale.effective, case.header.period_cycles)
    if not pairs:
        return
    unsure = len({name for pair in pairs for name in (pair.upper, pair.lower)})
    first = pairs[0]
    text = (
        f"The samples are too few to rank {unsure} of the {len(worth)} lines of 5% and more: "
        f"{named(first.upper, first.upper_estimate)} and "
    )
    text += f"{named(first.lower, first.lower_estimate)} overlap. {enough_for(pairs)}"
    yield Finding(
        "too_thin", text + (" The exact column ranks them." if scale.warp_cycles else ""), *line_of(case, first.upper)
    )


def named(name: str, estimate: Estimate) -> str:
    return f"{name} ({100 * estimate.low:.0f}-{100 * estimate.high:.0f}%)"


def enough_for(pairs: list[Overlap]) -> str:
    """The periods that would separate the first two lines, and all of them."""
    periods = [pair.enough_cycles for pair in pairs]
    least = min((period for period in periods if period), default=None)
    if periods[0] is None:
        text = "No period separates these two"
        return f"{text}; one of {grouped(least)} cycles separates all other lines." if least else f"{text}."
    rest = "all separable lines" if None in periods else "all"
    assert least is not None  # the first is one of them
    if least != periods[0]:
        return (
            f"A period of {grouped(periods[0])} cycles would be enough for these two, of {grouped(least)} for {rest}."
        )
    if None in periods:
        return f"A period of {grouped(least)} cycles would be enough for these two, and for {rest}."
    return f"A period of {grouped(least)} cycles would be enough."


def line_of(case: Case, name: str) -> tuple[str, int]:
    return next((path, row.number) for path, row in case.lines() if line_name(path, row) == name)


def in_step(case: Case) -> Iterator[Finding]:
    """The sampling period resonates with a loop."""
    if sum(launch.samples_dropped for launch in case.kernel.launches) or case.header.filter:
        return  # what was lost, or not wanted, is off by itself
    for resonance in resonances(case.kernel, case.header.period_cycles)[:LINES_PER_RULE]:
        lines = str(resonance.first_line) + (
            f"-{resonance.last_line}" if resonance.last_line != resonance.first_line else ""
        )
        where = f"the loop at {base_name(resonance.path)}:{lines}" if resonance.path else "a loop"
        yield Finding(
            "in_step",
            f"The samples in {where} are off by {percent0(resonance.distance)}, more than by chance: the period of "
            f"{grouped(case.header.period_cycles)} cycles is in step with its iterations of "
            f"{resonance.iteration_cycles:.4g} cycles. "
            f"More samples do not help; a period of {grouped(resonance.better_period)} cycles does, or the exact "
            "column.",
            resonance.path,
            resonance.first_line,
        )
