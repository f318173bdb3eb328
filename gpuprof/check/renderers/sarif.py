"""Verdicts as SARIF 2.1.0, for code scanning: errors and warnings are results, their blamed lines related locations."""

import json
from typing import Any
from urllib.parse import quote

from gpuprof.base.wording import installed_version
from gpuprof.check.checkout import Checkout
from gpuprof.check.problem_lines import blamed_line
from gpuprof.check.renderers import SARIF_SCHEMA
from gpuprof.check.renderers.fingerprints import REPORTED, fingerprinted
from gpuprof.check.verdict import KINDS, CheckReport, EntryVerdict, Place, Problem
from gpuprof.isa.printing.printable import printable

ROOT = "%SRCROOT%"  # SARIF 2.1.0, 3.14.14: the base that relative paths of a checkout have by convention
# GitHub, "SARIF support for code scanning": a rule has both descriptions and a help.
HELP = "docs/check.md of gpuprof says what is compared, and how a new baseline is written."
FINGERPRINT = "gpuprof/v1"
RULES = tuple(kind for kind in KINDS.values() if kind.severity in REPORTED)


def render(report: CheckReport, checkout: Checkout) -> str:
    driver = {
        "name": "gpuprof",
        "version": installed_version(),
        "rules": [
            {
                "id": kind.rule,
                "name": kind.name,
                "shortDescription": {"text": kind.text},
                "fullDescription": {"text": kind.text},
                "help": {"text": HELP},
                "defaultConfiguration": {"level": kind.severity},
            }
            for kind in RULES
        ],
    }
    results = [_result(*each, checkout) for each in fingerprinted(report)]
    log = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return json.dumps(log, indent=2) + "\n"


def _result(entry: EntryVerdict, problem: Problem, fingerprint: str, checkout: Checkout) -> dict[str, Any]:
    related = [
        _location(place) | {"id": number, "message": _message(text)}
        for number, (place, text) in enumerate(_lines(problem, checkout), 1)
    ]
    return {
        "ruleId": problem.of.rule,
        "ruleIndex": RULES.index(problem.of),
        "level": problem.of.severity,
        "message": _message(f"{entry.name}: {problem.heading}: {problem.message}"),
        "locations": [_location(checkout.place_or_file(problem, entry))],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {FINGERPRINT: fingerprint},
    }


def _lines(problem: Problem, checkout: Checkout) -> list[tuple[Place, str]]:
    """The blamed lines that are in the checkout, with their words."""
    found = ((checkout.place(line.places), line) for line in problem.lines)
    return [(place, blamed_line(line)) for place, line in found if place]


def _location(place: Place) -> dict[str, Any]:
    artifact = {"uri": quote(place.path), "uriBaseId": ROOT}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": place.line}}}


def _message(text: str) -> dict[str, str]:
    """A message without embedded links: `[text](target)`, by SARIF 2.1.0, 3.11.6."""
    return {"text": printable(text).replace("](", "] (")}
