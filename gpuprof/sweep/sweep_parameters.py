"""The parameters of a sweep: numbers of the chip, macros of the source, registers per thread."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gpuprof.chips.changes import Value, field_and_factor, number_or_text, size_in
from gpuprof.chips.model import field_of
from gpuprof.errors import UsageError

_MACRO = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Parameter:
    """`name` and `texts` as they were written; `kind` is "chip" (--param), "define" (--define) or "registers"
    (--max-registers).
    """

    kind: str
    name: str
    texts: tuple[str, ...]

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(map(number_or_text, self.texts))

    @property
    def column(self) -> str:
        """The parameter's name in a table: an identifier, and none that a metric has."""
        prefix = {"chip": "chip_", "define": "define_", "registers": ""}[self.kind]
        return prefix + self.name.replace(".", "_")

    @property
    def unit(self) -> str:
        if self.kind != "chip":
            return "registers" if self.kind == "registers" else ""
        size, (field_name, _) = size_in(self.name), field_and_factor(self.name)
        unit = field_of(field_name).unit
        return unit.replace("bytes", {"kb": "KiB", "mb": "MiB", "gb": "GiB"}[size]) if size else unit

    @property
    def meaning(self) -> str:
        if self.kind == "chip":
            return field_of(field_and_factor(self.name)[0]).meaning
        return "macro of the source" if self.kind == "define" else "limit of registers per thread at compilation"

    @property
    def is_numeric(self) -> bool:
        return not any(isinstance(value, str) for value in self.values)


def parse_parameter(kind: str, text: str, flag: str) -> Parameter:
    """ "l2_kb=20480,40960" as written after `flag`. Raises UsageError for text that is no parameter of any
    chip.
    """
    name, equals, rest = text.partition("=")
    texts = tuple(value for each in rest.split(",") for value in _values_of(each.strip(), f"{flag} {text}"))
    if not (name and equals and all(texts)):
        raise UsageError(f"{flag} {text}: expected NAME=VALUE,VALUE,... as in {EXAMPLES[kind]}")
    if kind == "define" and not _MACRO.fullmatch(name):
        raise UsageError(f"{flag} {text}: {name!r} cannot be the name of a macro")
    return _without_repetition(Parameter(kind, name, texts), flag)


def _values_of(text: str, where: str) -> tuple[str, ...]:
    """The values of "80:140:4", which are 80, 84, ... up to 140; any other text is one value."""
    ends = [number_or_text(each) for each in text.split(":")]
    if len(ends) != RANGE_PARTS or any(isinstance(each, str) for each in ends):
        return (text,)
    first, last, step = ends
    if step <= 0 or last < first:
        raise UsageError(f"{where}: {text}: expected FIRST:LAST:STEP, ascending")
    count = int((last - first) / step + 1e-9) + 1
    if count > MOST_VALUES:
        raise UsageError(f"{where}: {count:,} values, at most {MOST_VALUES:,}")
    return tuple(f"{first + k * step:.12g}" for k in range(count))


RANGE_PARTS = 3
MOST_VALUES = 100_000
EXAMPLES = {"chip": "l2_kb=20480,40960", "define": "TILE=8,16,32"}


def registers_parameter(text: str) -> Parameter:
    """The values of --max-registers, "32,64"."""
    texts = tuple(each.strip() for each in text.split(","))
    for each in texts:
        if not each.isdecimal() or int(each) < 16:
            raise UsageError(f"--max-registers {text}: {each!r} is not a number of at least 16 registers")
    return _without_repetition(Parameter("registers", "max_registers", texts), "--max-registers")


def _without_repetition(parameter: Parameter, flag: str) -> Parameter:
    """Raises UsageError where a value is given twice: the rows would be the same."""
    seen: set[Value] = set()
    for value in parameter.values:
        if value in seen:
            raise UsageError(f"{flag} {parameter.name}: the value {value} is given twice")
        seen.add(value)
    return parameter


def check_names(parameters: Iterable[Parameter]) -> None:
    """Raises UsageError where two parameters are one: the same number, in whatever unit, or macros that differ
    only by case.
    """
    seen: dict[str, str] = {}
    for parameter in parameters:
        target = field_and_factor(parameter.name)[0] if parameter.kind == "chip" else parameter.column.lower()
        if target in seen:
            raise UsageError(f"{seen[target]} and {parameter.name} cannot both be swept: they are the same number")
        seen[target] = parameter.name


def combinations(parameters: Sequence[Parameter], in_step: bool) -> Iterator[tuple[int, ...]]:
    """The indices of each run's values: every combination, the last parameter fastest; or, `in_step`, first with first
    and so on.

    Raises UsageError when parameters that go in step have different numbers of values.
    """
    lengths = [len(parameter.texts) for parameter in parameters]
    if not in_step:
        yield from itertools.product(*map(range, lengths))
        return
    if len(set(lengths)) > 1:
        counts = ", ".join(
            f"{parameter.name} has {length}" for parameter, length in zip(parameters, lengths, strict=True)
        )
        raise UsageError(f"--zip needs the same number of values for each parameter: {counts}")
    yield from ((index,) * len(lengths) for index in range(lengths[0] if lengths else 1))
