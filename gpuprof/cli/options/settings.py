"""The values of a command's options as the settings of a run.

    Given ─ settings_of ─> Settings, and BuildOptions in it
    Given ─ registers_of ─> registers of the sampler
    Given ─ wanted_of, findings_of ─> comparisons of results; the errors that are known

Rooms that a run needs are imported when it is set up: help is quick.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuprof.cli.options.option import Given, is_given
from gpuprof.cli.options.value_types import RANDOM
from gpuprof.errors import UsageError
from gpuprof.run.compile_file import DEFAULT_OPTIONS, BuildOptions

if TYPE_CHECKING:
    from gpuprof.device.launching.argument_values import RequestedResults
    from gpuprof.run.run_settings import Settings
    from gpuprof.trace.finding_report import Findings


def settings_of(given: Given, base: "Settings") -> "Settings":
    """`base` with the values that were given."""
    return replace(base, options=build_options_of(given, base.options), **_filled(given, ""))


def build_options_of(given: Given, base: BuildOptions = DEFAULT_OPTIONS) -> BuildOptions:
    return replace(base, **_filled(given, "options"))


def _filled(given: Given, whole: str) -> dict[str, Any]:
    """The fields of Settings ("") or of a part of it that options fill."""
    fields = {}
    for row in given.options:
        prefix, _, field = row.fills.rpartition(".")
        value = getattr(given, row.name)
        if field and prefix == whole and is_given(value):
            fields[field] = row.made(value) if row.made else value
    return fields


def registers_of(given: Given) -> dict[str, Any]:
    """The registers of the sampler that were set. --trigger sets several: options of their own go before it."""
    registers: dict[str, Any] = {}
    words: list[str] = []
    for row in given.options:
        prefix, _, register = row.fills.rpartition(".")
        value = getattr(given, row.name)
        if prefix != "sampling" or not is_given(value):
            continue
        if row.made:
            words += row.made(value)
        elif isinstance(value, dict):
            registers = value | registers
        else:
            registers[register] = value
    if words:
        from gpuprof.timing.sampling.filter import filter_of_words

        registers["filter"] = str(filter_of_words(words))
    return registers


def filter_words(key: str) -> Callable[[Any], list[str]]:
    """Makes a word of the sampling filter; to skip no launch takes none."""
    return lambda value: [f"{key}={value}"] if value != 0 else []


def kernel_name_words(name: str) -> list[str]:
    from gpuprof.timing.sampling.filter import kernel_pattern

    return [f"kernel={kernel_pattern(name)}"] if name else []


def with_counters(record: str | None, registers: dict[str, Any]) -> dict[str, Any]:
    """The registers with the counters that --record requests: all, unless --counters names them, or none."""
    from gpuprof.timing.sampling.configuration import COUNTERS

    if record is None:
        return registers
    return {"counters": "" if record == samples_form(record) else ",".join(COUNTERS)} | registers


def samples_form(record: str) -> str:
    """The form of a sample that --record names."""
    return record.partition("+")[0]


def chip_changes(texts: Sequence[str]) -> dict[str, Any]:
    from gpuprof.chips.changes import parse_changes

    return parse_changes(texts)


def host_name(name: str) -> str:
    """The name of a host. Raises UsageError for one that there is not, also where a run asks nothing of its host."""
    from gpuprof.hosts import load_host

    load_host(name)
    return name


def load_base(value: int | str) -> int | None:
    return None if value == RANDOM else value


def traces_of(texts: Sequence[str]) -> tuple:
    """The run.observers.tracing.Attached generators. Raises UsageError for one that there is not."""
    from gpuprof.run.observers.tracing import Attached
    from gpuprof.trace.find import make, parse_spec

    specs = [parse_spec(text) for text in texts]
    return tuple(Attached(make(spec), spec.where) for spec in specs)


def rules_of(path: Path) -> tuple:
    """The relate.relation_rules.Rule of a file. Raises UsageError for a file of no rules."""
    from gpuprof.base.inputs import RULES
    from gpuprof.base.toml import read_toml
    from gpuprof.relate import relation_rules

    try:
        content = read_toml(path, RULES)
    except ValueError as error:
        raise UsageError(f"{path}: is no TOML: {error}") from None
    return tuple(relation_rules.rules_of(content, str(path)))


def findings_of(given: Given) -> "Findings":
    """The errors that checkers find, with those that are known. Raises UsageError for a file of no suppressions."""
    from gpuprof.base.inputs import SUPPRESSIONS, read_input_text
    from gpuprof.trace.finding_report import Findings
    from gpuprof.trace.suppressions import parse

    if given.suppressions is None:
        return Findings((), given.limit)
    try:
        text = read_input_text(given.suppressions, SUPPRESSIONS)
    except UnicodeDecodeError as error:
        raise UsageError(f"{given.suppressions}: is no UTF-8 text: {error.reason}") from None
    return Findings(parse(text, str(given.suppressions)), given.limit)


def wanted_of(given: Given) -> "RequestedResults":
    """The comparisons and files of results. `sweep` saves none."""
    from gpuprof.base.heap import nothing_is_garbage

    with nothing_is_garbage():
        from gpuprof.device.launching.argument_values import RequestedResults
        from gpuprof.device.launching.expected_results import parse_expected

    expected = tuple(parse_expected(text, "--expect") for text in given.expected)
    return RequestedResults(expected, getattr(given, "saved", ()), given.rtol, given.atol)
