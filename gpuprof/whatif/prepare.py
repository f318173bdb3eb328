"""From a recording to launches that can be timed again, each with its timing as it is."""

from collections.abc import Sequence
from pathlib import Path

from gpuprof.base.stages import stage
from gpuprof.errors import NotComparable
from gpuprof.run.stored_launches import read_launches
from gpuprof.whatif.baseline import Baseline, baseline_of
from gpuprof.whatif.choose import Chosen


def prepare(recording: Path, chosen: Sequence[Chosen], traces: Path | None = None) -> tuple[Baseline, ...]:
    """The chosen launches of a recording with a command stream. traces: a file that has them, or gets them.

    Raises NotComparable for one without a stream, of another version of the model, or of launches that were cut.
    """
    with stage("storing the traces"):
        subjects = read_launches(recording, [each.launch for each in chosen], traces)
    baselines = tuple(baseline_of(subjects[each.launch]) for each in chosen)
    for each, baseline in zip(chosen, baselines, strict=True):
        if baseline.timing.cycles != each.cycles:
            raise NotComparable(
                f"{recording}: launch {each.launch} ({each.kernel}) took {each.cycles:,} cycles and takes "
                f"{baseline.timing.cycles:,} now: it was recorded by another version of the model, or its samples "
                "disturbed it; collect again"
            )
    return baselines
