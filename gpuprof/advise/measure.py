"""The gain of each draft, measured; and the best ten."""

import time
from collections.abc import Sequence

from gpuprof.advise.case import Case
from gpuprof.advise.draft import Advice, Draft
from gpuprof.whatif.timing_again import timed

MOST_PIECES = 10
LEAST_GAIN = 1.02  # of the launch: less is not worth a change


def measured(case: Case, drafts: Sequence[Draft], budget_seconds: float | None = None) -> list[Advice]:
    """At most MOST_PIECES that gain something, the largest gain first; drafts for which the budget of CPU seconds has
    no time are left out.
    """
    begun = time.process_time()
    found = []
    for draft in drafts:
        if found and budget_seconds is not None and time.process_time() - begun > budget_seconds:
            break
        found.append(_gain(case, draft))
    worth = [each for each in found if each.speedup >= LEAST_GAIN]
    return sorted(worth, key=lambda each: (-each.speedup, each.draft.topic, each.draft.place))[:MOST_PIECES]


def _gain(case: Case, draft: Draft) -> Advice:
    ways = [draft.interventions, *draft.others]
    cycles, best = min((round(timed(case.baseline.subject, way).cycles / draft.work), k) for k, way in enumerate(ways))
    before = case.launch_cycles if draft.n_launches > 1 else case.baseline.timing.cycles
    return Advice(draft, ways[best], before, cycles)
