"""The keywords of `@pytest.mark.gpuprof`: flags of collect, limits against a baseline, budgets.

marks of a test, its class and module ─ merged ─> keywords ─ parse_mark ─> Expected
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuprof.base.wording import suggestion
from gpuprof.check.budgets import QUANTITIES, Budget, parse_budgets
from gpuprof.check.finding_kinds import why_unknown
from gpuprof.check.requirements import Requirement, parse_requirement
from gpuprof.check.rules import DEFAULT, Rule, parse_rule
from gpuprof.correlate.advice.advice_rules import BY_NAME as ADVICE
from gpuprof.correlate.metrics import BY_NAME
from gpuprof.errors import UsageError
from gpuprof.testing.collect_flags import FLAGS
from gpuprof.trace.find import CHECKERS

MARK = "@pytest.mark.gpuprof"
_NAME = re.compile(r"\w[\w.+-]*")


@dataclass(frozen=True)
class Expected:
    """The demands of a mark. `baseline`: its name, "" without one; `rules`: growth allowed against it."""

    baseline: str
    rules: tuple[Rule, ...]
    budgets: tuple[Budget, ...]
    requirements: tuple[Requirement, ...]
    flags: Mapping[str, Any]


def merged(marks: Iterable[tuple[tuple, Mapping[str, Any]]]) -> dict[str, Any]:
    """The keywords of marks, given as (arguments, keywords), the nearest to the test first: it wins.

    Raises UsageError for an argument without a keyword.
    """
    keywords: dict[str, Any] = {}
    for arguments, own in marks:
        if arguments:
            raise UsageError(f"{MARK}({arguments[0]!r}): takes keywords only, as in baseline={arguments[0]!r}")
        keywords = dict(own) | keywords
    return keywords


def parse_mark(keywords: Mapping[str, Any]) -> Expected:
    """Limits to findings let all checkers watch, where no `trace=` says what else does.

    Raises UsageError for an unknown keyword, metric or limit.
    """
    check_keywords(keywords)
    baseline = keywords.get("baseline") or ""
    if not isinstance(baseline, str) or (baseline and not _NAME.fullmatch(baseline)):
        raise UsageError(
            f"{MARK}(baseline={baseline!r}): expected the name of a file, without folders above it and without .toml"
        )
    limits = [(name, value) for name, values in keywords.items() if name in QUANTITIES for value in _each(values)]
    rules = [_rule(name, value) for name, value in limits if not _is_budget(value)]
    requirements = tuple(_requirements(keywords.get("findings")))
    watched = {"trace": tuple(CHECKERS)} if any(each.kind not in ADVICE for each in requirements) else {}
    return Expected(
        baseline,
        tuple(rules or map(parse_rule, DEFAULT)),
        tuple(_budget(name, value) for name, value in limits if _is_budget(value)),
        requirements,
        watched | {name: value for name, value in keywords.items() if name in FLAGS},
    )


def check_keywords(keywords: Mapping[str, Any]) -> None:
    """Raises UsageError for a keyword that is unknown; the message names the nearest."""
    known = ("baseline", "findings", *QUANTITIES, *FLAGS)
    for name in keywords:
        if name not in known:
            near = suggestion(name, known) or (
                "it is baseline, findings, a metric of `gpuprof list metrics`, a budget, or a flag of `gpuprof collect`"
            )
            raise UsageError(f"{MARK}({name}=...): unknown keyword {name!r}; {near}")


def _each(values: Any) -> Iterable[Any]:
    return values if isinstance(values, list | tuple) else (values,)


def _is_budget(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value.strip().startswith(("<=", ">=")))


def _rule(name: str, value: Any) -> Rule:
    text = f"{name}={value}"
    if name not in BY_NAME:
        raise UsageError(f'{MARK}({name}={value!r}): {name} has only budgets, as in "<=10"')
    try:
        return parse_rule(text)
    except UsageError as error:
        reason = str(error).partition(f"{text!r}: ")[2]
        raise UsageError(f'{MARK}({name}={value!r}): {reason}, or a budget ("<=128")') from None


def _budget(name: str, value: Any) -> Budget:
    """A budget of every kernel of the test."""
    try:
        return parse_budgets({"*": {name: value}})[0]
    except UsageError as error:
        raise UsageError(f"{MARK}({name}={value!r}): {str(error).partition(': ')[2]}") from None


def _requirements(findings: Any) -> Iterator[Requirement]:
    """The requirements of `findings=0`, `findings="<=2"`, or `findings={"out_of_bounds": 0}` by kind."""
    if findings is None:
        return
    expected = 'expected a number, "<=2", or numbers by kind as in {"out_of_bounds": 0}'
    of_kinds = findings if isinstance(findings, Mapping) else {"": findings}
    for kind, value in of_kinds.items():
        if kind and (reason := why_unknown(str(kind))):
            raise UsageError(f"{MARK}(findings={findings!r}): {reason}")
        text = f"findings{'.' if kind else ''}{kind}{value if str(value).startswith('<=') else f'<={value}'}"
        try:
            yield parse_requirement(text)
        except UsageError:
            raise UsageError(f"{MARK}(findings={findings!r}): {expected}") from None
