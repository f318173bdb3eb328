"""Keywords of the mark: limits, budgets, findings, flags, and what is wrong with them."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.testing.mark import merged, parse_mark
from gpuprof.trace.find import CHECKERS


def test_all_kinds():
    expected = parse_mark(
        {"baseline": "scan", "cycles": ("1%", "<=5000"), "registers": 128, "occupancy": ">=50%", "chip": "h100"}
    )
    assert expected.baseline == "scan"
    assert [rule.text for rule in expected.rules] == ["cycles=1%"]
    assert [budget.text for budget in expected.budgets] == ["cycles <=5000", "registers <=128", "occupancy >=50%"]
    assert expected.requirements == ()
    assert expected.flags == {"chip": "h100"}


def test_without_a_limit_there_is_the_usual_one():
    assert [rule.text for rule in parse_mark({"baseline": "scan"}).rules] == ["cycles=1%|200"]
    assert [rule.text for rule in parse_mark({"registers": "<=128"}).rules] == ["cycles=1%|200"]


def test_findings_let_the_checkers_watch():
    expected = parse_mark({"findings": 0})
    assert [each.text for each in expected.requirements] == ["findings<=0"]
    assert expected.flags == {"trace": tuple(CHECKERS)}
    assert parse_mark({"findings": "<=2", "trace": "memcheck"}).flags == {"trace": "memcheck"}
    by_kind = parse_mark({"findings": {"uncoalesced": 0}})
    assert ([each.text for each in by_kind.requirements], by_kind.flags) == (["findings.uncoalesced<=0"], {})


def test_the_nearest_mark_wins():
    marks = [((), {"cycles": "2%"}), ((), {"cycles": "1%", "chip": "h100"})]
    assert merged(marks) == {"cycles": "2%", "chip": "h100"}


WRONG = {
    "cylces": ("1%", "(cylces=...): unknown keyword 'cylces'; did you mean cycles?"),
    "xyzzy": (
        1,
        "(xyzzy=...): unknown keyword 'xyzzy'; it is baseline, findings, a metric of `gpuprof list metrics`, a budget, "
        "or a flag of `gpuprof collect`",
    ),
    "cycles": (
        "1x",
        "(cycles='1x'): '1x' is not a limit; give a percentage (1%), a count (200), or both (1%|200), or a budget "
        '("<=128")',
    ),
    "occupancy": ("50%", "(occupancy='50%'): occupancy has only budgets, as in \"<=10\""),
    "registers": (
        "<=many",
        "(registers='<=many'): registers = '<=many' is no limit; give one as in registers = \"<=128\"",
    ),
    "findings": ("few", '(findings=\'few\'): expected a number, "<=2", or numbers by kind as in {"out_of_bounds": 0}'),
    "baseline": (
        "../scan",
        "(baseline='../scan'): expected the name of a file, without folders above it and without .toml",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name):
    value, message = WRONG[name]
    with pytest.raises(UsageError) as caught:
        parse_mark({name: value})
    assert str(caught.value) == f"@pytest.mark.gpuprof{message}"


def test_a_mark_takes_keywords():
    with pytest.raises(UsageError) as caught:
        merged([(("scan",), {})])
    assert str(caught.value) == "@pytest.mark.gpuprof('scan'): takes keywords only, as in baseline='scan'"
