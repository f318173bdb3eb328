"""The kinds of findings: the table has all that the code makes, no name goes away, and a wrong one is refused."""

import ast
import importlib
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

from gpuprof.base.compared_results import ADVICE, SEVERITIES
from gpuprof.check.budgets import parse_budgets
from gpuprof.check.finding_kinds import BY_NAME, KINDS
from gpuprof.check.requirements import parse_requirement
from gpuprof.correlate.advice.advice_rules import NOBODY, RULES
from gpuprof.errors import UsageError
from gpuprof.testing.mark import parse_mark
from gpuprof.trace.checkers import memcheck, racecheck
from gpuprof.trace.checkers.races.race_shadow import SPACES
from gpuprof.trace.find import CHECKERS
from gpuprof.trace.generators.values import origins
from tests.checkers import memory_cases, test_image_races, test_initcheck, test_launch_races
from tests.checkers.__main__ import matrices
from tests.paths import DOCS, ROOT

# Scripts, budgets and suppressions have these names. A name may be added; none is removed or renamed.
FROZEN = [
    "out_of_bounds",
    "null_pointer",
    "use_after_free",
    "misaligned",
    "constant_write",
    "double_free",
    "invalid_free",
    "invalid_image",
    "invalid_tensor_map",
    "copy_out_of_bounds",
    "negative_size",
    "leak",
    "uninitialised_address",
    "uninitialised_branch",
    "uninitialised_store",
    "shared_write_write_race",
    "shared_write_read_race",
    "shared_read_write_race",
    "global_write_write_race",
    "global_write_read_race",
    "global_read_write_race",
    "stream_write_write_race",
    "stream_write_read_race",
    "stream_read_write_race",
    "stream_use_after_free",
    "async_copy_race",
    "async_register_race",
    "missing_proxy_fence",
    "missing_wgmma_fence",
    "more_races",
    "divergent_barrier",
    "not_a_member",
    "mbarrier_not_initialized",
    "mbarrier_reinitialized",
    "mbarrier_overflow",
    "mbarrier_stale_wait",
    "exited_block",
    "deadlock",
    "redundant_load",
    "silent_store",
    "dead_store",
    "first_nan",
    "first_inf",
    "first_subnormal",
    "repeated_work",
    "uncoalesced",
    "bank_conflicts",
    "local_memory",
    "block_lanes",
    "divergence",
]


def test_no_name_goes_away():
    assert [kind.name for kind in KINDS] == FROZEN
    assert {kind.severity for kind in KINDS} <= set(SEVERITIES)
    assert all(re.search(r"[^.]\.$", kind.text) for kind in KINDS)


# What the source says. SINKS: functions that make a finding -> the place of the kind among their arguments.
SINKS = {"self.find": 0, "self.note": 0, "Finding": 0, "HostError": 0, "Conflict": 0}
HANDED_ON = {  # functions of a module that hand a kind on to one of SINKS
    "memcheck": {"self._note": 2},
    "mbarrier_use": {"self._note": 1},
    "uncertain": {"self._report": 0},
    "initcheck": {"self._report": 0},
}
COMPUTED = {
    ("memcheck", "kind"): set(memcheck.KINDS_REFUSED.values()),
    ("racecheck", "NAMES_OF_FRAGMENTS[hazard.kind]"): set(racecheck.NAMES_OF_FRAGMENTS.values()),
    ("racecheck", "name"): {
        *racecheck.SPECIAL_NAMES.values(),
        *(f"{space}_{name}_race" for space in SPACES for name in racecheck.NAMES.values()),
    },
    ("origins", "f'first_{number}'"): {f"first_{number}" for number in origins.WORDS},
    # Kinds of calls that are found as well.
    **dict.fromkeys(((file, "kind") for file in ("checker", "uncertain", "synccheck", "generator")), frozenset()),
    **dict.fromkeys((("launch_races", "conflict.kind"), ("tracing", "error.kind")), frozenset()),
}
# Errors that no generator's module finds -> the checker that reports them.
REPORTED_BY = {
    "host_errors": "memcheck",
    "launch_pairs": "racecheck",
    "uncertain": "initcheck",
    "mbarrier_use": "synccheck",
}
HANDLES_ANY = "gpuprof.trace.tables"  # it declares Finding


def kinds_in_the_source() -> Iterator[tuple[str, str]]:
    """Generator and kind, of each call that makes a finding."""
    for path in sorted(path for room in ("trace", "run") for path in (ROOT / "gpuprof" / room).rglob("*.py")):
        name, file = ".".join(path.relative_to(ROOT).with_suffix("").parts), path.stem
        if name == HANDLES_ANY:
            continue
        tree, places = ast.parse(path.read_text()), SINKS | HANDED_ON.get(file, {})
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                place = places.get(called(call))
                if place is not None:
                    kinds = values_of(call.args[place], file, tree, function, importlib.import_module(name))
                    yield from ((REPORTED_BY.get(file, file), kind) for kind in kinds)


def called(call: ast.Call) -> str:
    """ "self.note" or "Finding"; "" for what is neither a method of self nor a plain name."""
    if isinstance(call.func, ast.Attribute):
        return (
            f"self.{call.func.attr}" if isinstance(call.func.value, ast.Name) and call.func.value.id == "self" else ""
        )
    return call.func.id if isinstance(call.func, ast.Name) else ""


def values_of(
    node: ast.expr, file: str, tree: ast.Module, function: ast.FunctionDef, module: ModuleType
) -> Iterator[str]:
    """The texts that an expression may have."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from values_of(node.body, file, tree, function, module)
        yield from values_of(node.orelse, file, tree, function, module)
    elif (file, ast.unparse(node)) in COMPUTED:
        yield from COMPUTED[file, ast.unparse(node)]
    elif isinstance(node, ast.Name) and hasattr(module, node.id):
        yield getattr(module, node.id)
    elif isinstance(node, ast.Name):
        yield from values_of_loop(node.id, function)
    else:
        functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
        other = functions.get(called(node)) if isinstance(node, ast.Call) else None
        assert other, f"{module.__name__}: what kinds of findings can {ast.unparse(node)} be? Say it in COMPUTED"
        for given in (each for each in ast.walk(other) if isinstance(each, ast.Return)):
            yield from values_of(given.value, file, tree, other, module)


def values_of_loop(name: str, function: ast.FunctionDef) -> list[str]:
    """The values of a variable that runs over rows of a literal table."""
    for loop in (node for node in ast.walk(function) if isinstance(node, ast.For)):
        if isinstance(loop.target, ast.Tuple) and name in (targets := [ast.unparse(each) for each in loop.target.elts]):
            return [row.elts[targets.index(name)].value for row in loop.iter.elts]
    raise AssertionError(f"{function.name}: what kinds of findings can {name} be? Say it in COMPUTED")


def test_the_table_has_what_the_source_makes():
    declared = {(kind.generator, kind.name) for kind in KINDS if kind.generator != NOBODY}
    assert set(kinds_in_the_source()) == declared
    assert [kind.name for kind in KINDS if kind.generator == NOBODY] == [rule.name for rule in RULES]


def test_severities():
    of_origins = {f"first_{number}": severity for number, severity in origins.SEVERITY.items()}
    for kind in KINDS:
        others = of_origins.get(kind.name, ADVICE)
        assert kind.severity == ("error" if kind.generator in CHECKERS else others), kind


def planted() -> Iterator[tuple[str, str]]:
    """Checker and kind of the errors that tests plant; the tests assert that these are found, and no others."""
    for matrix in matrices():
        for case in matrix.cases:
            yield from ((matrix.checker.name, kind) for kind in case.kinds)
    yield from (("memcheck", case.kind) for case in memory_cases.CASES if case.kind)
    yield from (("initcheck", kind) for kind in test_initcheck.KINDS.values())
    of_commands = (*test_launch_races.cases(), *test_launch_races.FREE_CASES, *test_image_races.CASES)
    yield from (("racecheck", kind) for case in of_commands for kind in case.kinds)


def test_the_table_has_what_planted_errors_are_found_as():
    declared = {(kind.generator, kind.name) for kind in KINDS}
    found = set(planted())
    assert found - declared == set()
    # Each of these three checkers has its errors planted; a race that is lost among too many has no case.
    of_three = {each for each in declared if each[0] in ("initcheck", "racecheck", "synccheck")}
    assert of_three - found == {("racecheck", "more_races")}


def test_the_page_on_checkers_has_the_table():
    sections = re.split(r"^## ", (DOCS / "checkers.md").read_text(), flags=re.MULTILINE)
    for checker in CHECKERS:
        (section,) = (each for each in sections if each.startswith(f"{checker}\n"))
        rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
        shown = [(name, text.replace("`", "")) for name, text in rows]
        assert shown == [(kind.name, kind.text) for kind in KINDS if kind.generator == checker], checker


WRONG = [
    ("uncoalesed", "'uncoalesed' is no kind of finding; did you mean uncoalesced?"),
    ("Leak", "'Leak' is no kind of finding; did you mean leak?"),
    ("uninitialized_store", "'uninitialized_store' is no kind of finding; did you mean uninitialised_store?"),
    ("Stores", "a kind of finding has a-z, 0-9 and _, 40 characters at most"),
]


@pytest.mark.parametrize("name, reason", WRONG)
def test_a_name_that_resembles_one_or_is_none_is_refused(name, reason):
    for refused, message in (
        (lambda: parse_budgets({"scan*": {"findings": {name: 0}}}), f"budget of 'scan*': findings.{name}: {reason}"),
        (lambda: parse_requirement(f"findings.{name}<=0"), f"--require 'findings.{name}<=0': {reason}"),
        (lambda: parse_mark({"findings": {name: 0}}), f"@pytest.mark.gpuprof(findings={{'{name}': 0}}): {reason}"),
    ):
        with pytest.raises(UsageError) as caught:
            refused()
        assert str(caught.value) == message


@pytest.mark.parametrize("name", [*BY_NAME, "stores", "first_zero", "race"])
def test_ours_and_what_a_users_generator_may_find_are_known(name):
    assert parse_requirement(f"findings.{name}<=0").kind == name
    (budget,) = parse_budgets({"*": {f"findings.{name}": 0}})
    assert budget.name == f"findings.{name}"
