"""The check of one profile: read, measured, compared with its baseline.

profile + baseline + rules + requirements ─ check_profile ─> Checked ─ entry_of ─> EntryVerdict
"""

from collections.abc import Sequence
from pathlib import Path

from gpuprof.check.baseline import read_baseline
from gpuprof.check.compare import compare
from gpuprof.check.entry import Checked
from gpuprof.check.facts import Facts, measure
from gpuprof.check.found import placed_findings, placed_results
from gpuprof.check.render import diff_table
from gpuprof.check.requirements import Requirement, measure_requirements
from gpuprof.check.rules import Rule
from gpuprof.correlate.database import reading
from gpuprof.errors import FileFormatError, NotComparable


def check_profile(
    profile: Path,
    old: Path | Facts | None,
    rules: Sequence[Rule],
    requirements: Sequence[Requirement] = (),
    strict_shape: bool = False,
    with_diff: bool = False,
    shown: Path | None = None,
) -> Checked:
    """`old`: a baseline's file, or the facts of another profile; without one only the requirements are checked.
    `shown`: what messages call the profile. Results that differ end it, and so does what cannot be compared or read,
    which is `Checked.error`. Raises UsageError for a profile that is not there.
    """
    facts, findings, results = None, (), ()
    try:
        with reading(profile) as db:
            results = placed_results(db)
            if any(placed.result.is_wrong for placed in results):
                return Checked(results=results)
            facts = measure(db, shown or profile)
            outcomes = measure_requirements(db, requirements)
            findings = placed_findings(db)
        if old is None:
            return Checked(facts, None, outcomes, results, findings)
        comparison = compare(_baseline(old) if isinstance(old, Path) else old, facts, rules, strict_shape)
    except (NotComparable, FileFormatError) as error:
        return Checked(facts, results=results, findings=findings, error=error)
    details = tuple(diff_table(comparison)) if with_diff else ()
    return Checked(facts, comparison, outcomes, results, findings, details=details)


def _baseline(file: Path) -> Facts:
    """Raises NotComparable also for a baseline that is damaged, such as by hand."""
    try:
        return read_baseline(file)
    except FileFormatError as error:
        raise NotComparable(str(error)) from None
