"""Fingerprints of problems: by them other tools recognize one again in a later report.

No number of a line and none of a metric is part of one: an edit above a line, or another slowdown of it, is the same
problem.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator

from gpuprof.check.verdict import SEVERITIES, WARNING, CheckReport, EntryVerdict, Problem

REPORTED = SEVERITIES[: SEVERITIES.index(WARNING) + 1]  # an improvement is no issue


def fingerprinted(report: CheckReport) -> Iterator[tuple[EntryVerdict, Problem, str]]:
    """The errors and warnings of a report, each with a fingerprint that no other one has."""
    seen: Counter[str] = Counter()
    for entry in report.entries:
        for problem in entry.problems:
            if problem.of.severity in REPORTED:
                what = "\0".join((problem.of.rule, entry.name, problem.title, problem.metric))
                seen[what] += 1
                yield entry, problem, hashlib.sha256(f"{what}\0{seen[what]}".encode()).hexdigest()
