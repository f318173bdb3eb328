"""Verdicts of checks, as plain values: what was judged, what is wrong with it, and which lines are to blame.

Comparison, outcomes, results, findings ─ entry.py ─> EntryVerdict
entries ─> CheckReport ─ renderers ─> text, JSON, annotations, ...
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpuprof.base.wording import plural

ERROR, WARNING, NOTICE = "error", "warning", "notice"


class Kind(NamedTuple):
    """A kind of problem. `status`: the status of an entry whose worst problem it is. `rule`: its id in other tools'
    formats, which never changes. A kind whose exit code is 0 does not fail a check.
    """

    name: str
    status: str
    severity: str
    exit_code: int
    rule: str
    text: str

    @property
    def fails(self) -> bool:
        return self.exit_code != 0


# The worst first.
FAILED = Kind("failed", "failed", ERROR, 1, "gpuprof-failed", "The entry could not be collected.")
WRONG = Kind(
    "wrong results", "wrong results", ERROR, 1, "gpuprof-wrong-results",
    "An array differs from its expected values; the cycles of a wrong kernel do not count.",
)  # fmt: skip
REGRESSED = Kind(
    "regressed", "regressed", ERROR, 3, "gpuprof-regressed", "A metric of a launch grew by more than its limit."
)
BUDGET = Kind("budget", "over budget", ERROR, 3, "gpuprof-budget", "A number of a kernel or launch is over its budget.")
REQUIREMENT = Kind(
    "requirement", "requirement broken", ERROR, 3, "gpuprof-requirement",
    "More was found than a requirement allows.",
)  # fmt: skip
RATCHET = Kind(
    "ratchet", "not booked", ERROR, 3, "gpuprof-ratchet",
    "A metric improved, and the baseline does not have the improvement yet.",
)  # fmt: skip
NOT_COMPARABLE = Kind(
    "not comparable", "not comparable", ERROR, 4, "gpuprof-not-comparable",
    "There is no baseline, nothing was measured, or both were measured in different ways.",
)  # fmt: skip
MISSING = Kind(
    "missing", "missing", ERROR, 4, "gpuprof-missing", "A launch of the baseline is not in the profile."
)  # fmt: skip
FINDING = Kind(
    "finding", "finding", WARNING, 0, "gpuprof-finding", "A checker or another trace generator found something."
)
RESHAPED = Kind(
    "reshaped", "reshaped", WARNING, 0, "gpuprof-reshaped",
    "A launch has another grid, block or dynamic shared memory than in the baseline.",
)  # fmt: skip
IMPROVED = Kind(
    "improved", "improved", NOTICE, 0, "gpuprof-improved", "A metric of a launch shrank by more than its limit."
)
REMOVED = Kind(
    "removed", "removed", NOTICE, 0, "gpuprof-removed", "An entry of the other revision is not in the project any more."
)
NEW = Kind("new", "new", NOTICE, 0, "gpuprof-new", "A launch is not in the baseline.")
KINDS = {
    kind.name: kind
    for kind in (
        FAILED, WRONG, REGRESSED, BUDGET, REQUIREMENT, RATCHET, NOT_COMPARABLE, MISSING, FINDING, RESHAPED, IMPROVED,
        REMOVED, NEW,
    )
}  # fmt: skip
SEVERITIES = (ERROR, WARNING, NOTICE)  # the worst first
PASSED = "passed"  # the status of an entry without a problem
EXIT_CODES = (1, 3, 4, 0)  # the worst first: that of a report is the worst of its entries'


class Place(NamedTuple):
    """A line of source. `path`: as the recording has it, so relative ones are relative to where it was collected."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class BlamedLine(NamedTuple):
    """A line's share in a metric: `old` is None where the baseline leaves it out, `new` where the line is gone.

    `places`: those of its code, the innermost first (an inlined function's), the kernel's own file last.
    """

    place: str  # "path:line", as it is printed; the file when the line is gone
    text: str
    old: int | None
    new: int | None
    metric: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Problem:
    """`kind`: a key of KINDS. `title`: of the launch, or the kernel; "" for the whole entry. `limit`: as the user wrote
    it. `places`: where the code to blame is, the best first; empty where no line is known.
    """

    kind: str
    title: str
    message: str  # a sentence without a period
    metric: str = ""
    old: int | float | None = None
    new: int | float | None = None
    limit: str = ""
    places: tuple[Place, ...] = ()
    lines: tuple[BlamedLine, ...] = ()

    @property
    def of(self) -> Kind:
        return KINDS[self.kind]

    @property
    def heading(self) -> str:
        """ "saxpy<<<64, 256>>> regressed"; of a whole entry the status."""
        return f"{self.title} {self.of.status}" if self.title else self.of.status


@dataclass(frozen=True)
class LaunchNumbers:
    """A launch of the profile. `status`: regressed, improved, same or new, or "measured" where there is no baseline."""

    title: str
    status: str
    metrics: Mapping[str, int]  # by name, of correlate.metrics


@dataclass(frozen=True)
class EntryVerdict:
    """The verdict on one profile. `file`: what was judged, as the user names it. `cause`: of what is not comparable, or
    of the first regression, a name of check.causes.CAUSES; "" for none. `update`: the command that writes the baseline
    again, "" where there is none. `closing`: a sentence on the comparison; `requirements`: a line for each, met or
    broken; `details`: lines to print before. `json`: the object of `gpuprof check FILE --format json`.
    """

    name: str
    file: str
    problems: tuple[Problem, ...] = ()
    launches: tuple[LaunchNumbers, ...] = ()
    n_launches: int = 0
    cause: str = ""
    update: str = ""
    closing: str = ""
    requirements: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    is_cached: bool = False  # nothing it is made of changed, so that the verdict is that of an earlier run
    json: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        return worst_code(problem.of.exit_code for problem in self.problems)

    @property
    def status(self) -> str:
        found = {problem.kind for problem in self.problems}
        return next((kind.status for kind in KINDS.values() if kind.name in found), PASSED)

    @property
    def failures(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.of.fails)

    def worst_first(self) -> list[Problem]:
        order = list(KINDS)
        return sorted(self.problems, key=lambda problem: order.index(problem.kind))


@dataclass(frozen=True)
class CheckReport:
    """The verdicts on all entries of a check, in the order of the project's file. `of_file`: it is the check of one
    profile, `gpuprof check FILE`, and no project's.
    """

    entries: tuple[EntryVerdict, ...]
    of_file: bool = False

    @property
    def exit_code(self) -> int:
        return worst_code(entry.exit_code for entry in self.entries)

    @property
    def verdict(self) -> str:
        """The status of the worst entry."""
        found = {entry.status for entry in self.entries}
        return next((kind.status for kind in KINDS.values() if kind.status in found), PASSED)

    @property
    def closing(self) -> str:
        """One sentence: "3 entries: 1 regressed, 2 passed (1 not run again: nothing changed)". Of one profile it is on
        its launches.
        """
        if self.of_file and any(entry.closing for entry in self.entries):
            return "; ".join(entry.closing for entry in self.entries)
        counts = Counter(entry.status for entry in self.entries)
        words = ", ".join(
            f"{counts[status]:,} {status}"
            for status in dict.fromkeys([*(kind.status for kind in KINDS.values()), PASSED])
            if counts[status]
        )
        n_cached = sum(entry.is_cached for entry in self.entries)
        unchanged = f" ({n_cached:,} not run again: nothing changed)" if n_cached else ""
        return f"{plural(len(self.entries), 'entry', 'entries')}: {words or 'nothing to check'}{unchanged}"


def worst_code(codes: Iterable[int]) -> int:
    return min(codes, key=EXIT_CODES.index, default=0)
