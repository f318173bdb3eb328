"""Verdicts as a report of GitLab's Code Quality: errors and warnings, each at a line of the checkout.

The keys and severities are those of GitLab's documentation: "Code Quality", code quality report format.
"""

import json

from gpuprof.check.checkout import Checkout
from gpuprof.check.renderers.fingerprints import fingerprinted
from gpuprof.check.verdict import ERROR, WARNING, CheckReport
from gpuprof.isa.printing.printable import printable

SEVERITY = {ERROR: "major", WARNING: "minor"}


def render(report: CheckReport, checkout: Checkout) -> str:
    issues = []
    for entry, problem, fingerprint in fingerprinted(report):
        place = checkout.place_or_file(problem, entry)
        issues.append(
            {
                "description": printable(f"{entry.name}: {problem.heading}: {problem.message}"),
                "check_name": problem.of.rule,
                "fingerprint": fingerprint,
                "severity": SEVERITY[problem.of.severity],
                "location": {"path": place.path, "lines": {"begin": place.line}},
            }
        )
    return json.dumps(issues, indent=2) + "\n"
