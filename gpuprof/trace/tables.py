"""The output of generators: rows of tables with declared columns, and findings."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gpuprof.base.compared_results import NAME, SEVERITIES
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import PC_END
from gpuprof.tables.table import Column, Table

MOST = (1 << 63) - 1  # of an integer: what a database holds


def _is_integer(value: object) -> bool:
    return type(value) is int and -MOST <= value <= MOST


class Type(NamedTuple):
    holds: Callable[[object], bool]
    meaning: str


TYPES = {
    "integer": Type(_is_integer, "an integer of 64 bits"),
    "real": Type(lambda value: type(value) in (int, float) and abs(value) < float("inf"), "a finite number"),
    "text": Type(lambda value: isinstance(value, str), "a text"),
}


def check_tuple(what: str, value: object, of: type) -> None:
    """Raises UsageError for a value that is not a tuple or list of `of`, such as a single element by mistake."""
    is_list = isinstance(value, tuple | list) and not isinstance(value, of)
    if not (is_list and all(isinstance(each, of) for each in value)):
        raise UsageError(f"{what} is {value!r:.60}: expected a tuple of {_NAMES[of]}, as in (first, second) or (only,)")


def check_table(table: Table) -> None:
    """Raises UsageError for a name that is no identifier, a column twice, an unknown type."""
    check_tuple(f"table {table.name!r}: columns", table.columns, Column)
    names = [column.name for column in table.columns]
    for name in (table.name, *names):
        if not NAME.fullmatch(name):
            raise UsageError(f"table {table.name!r}: {name!r} is no name: use a-z, 0-9 and _, 40 characters at most")
    if len(set(names)) < len(names) or "launch" in names or not names:
        raise UsageError(f"table {table.name!r}: its columns need different names, and none may be called launch")
    for column in table.columns:
        if column.type not in TYPES:
            raise UsageError(
                f"table {table.name!r}: column {column.name} has type {column.type!r}; one of {', '.join(TYPES)}"
            )


def checked_row(table: Table, values: Sequence[object]) -> tuple:
    """A row, with numpy's numbers as Python's. Raises UsageError for one that does not fit the columns."""
    plain = tuple(value.item() if hasattr(value, "item") else value for value in values)
    if len(plain) != len(table.columns):
        raise UsageError(f"table {table.name!r} has {len(table.columns)} columns, and a row of {len(plain)} values")
    for column, value in zip(table.columns, plain, strict=True):
        if not TYPES[column.type].holds(value):
            raise UsageError(
                f"table {table.name!r}: column {column.name} is {value!r}: expected {TYPES[column.type].meaning}"
            )
    return plain


_NAMES = {Column: "columns", Table: "tables", str: "texts"}


class Finding(NamedTuple):
    """Something that a person should look at. `kind`: a name for all findings of its sort; `severity`: one of
    SEVERITIES; -1 and "" mark fields that are not given. `pc` and `other_pc` are code addresses; `block` is the linear
    index in the grid, `warp` the number in the block, `thread` the linear index in the block, `address` one of memory,
    `allocation` the name of what holds it; `count`: how often it happened.
    """

    kind: str
    severity: str
    text: str
    pc: int = -1
    other_pc: int = -1
    block: int = -1
    warp: int = -1
    thread: int = -1
    address: int = -1
    allocation: str = ""
    count: int = 1

    def checked(self) -> "Finding":
        """With numpy's numbers as Python's. Raises UsageError for a field that cannot be stored."""
        plain = Finding(*(value.item() if hasattr(value, "item") else value for value in self))
        if not NAME.fullmatch(plain.kind):
            raise UsageError(f"a finding of kind {plain.kind!r}: use a-z, 0-9 and _, 40 characters at most")
        if plain.severity not in SEVERITIES:
            raise UsageError(f"a finding of severity {plain.severity!r}; one of {', '.join(SEVERITIES)}")
        for name, value in plain._asdict().items():
            is_text = isinstance(getattr(NOTHING, name), str)
            if not (isinstance(value, str) if is_text else _is_integer(value) and value >= -1):
                raise UsageError(
                    f"a finding with {name} {value!r}: expected {'a text' if is_text else 'an integer from -1 on'}"
                )
            if name in ("pc", "other_pc") and value >= PC_END:
                raise UsageError(f"a finding with {name} {value!r}: code addresses are below {PC_END:#x}")
        return plain


NOTHING = Finding("", "", "")


class Results(NamedTuple):
    """The output of one generator for one launch: rows by table, and findings, in the order given."""

    launch: int
    tables: dict[str, list[tuple]]
    findings: list[Finding]


class Gathering:
    """Rows and findings as they come."""

    def __init__(self, tables: Iterable[Table]):
        self._tables = {table.name: table for table in tables}
        self.clear()

    def clear(self) -> None:
        self._rows: dict[str, list[tuple]] = {name: [] for name in self._tables}
        self._findings: list[Finding] = []

    def add(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        if table not in self._tables:
            raise UsageError(f"no table {table!r}; declared are {', '.join(self._tables) or 'none'}")
        declared = self._tables[table]
        self._rows[table] += [checked_row(declared, values) for values in rows]

    def find(self, finding: Finding) -> None:
        self._findings.append(finding.checked())

    def take(self, launch: int) -> Results:
        """All since the last time."""
        results = Results(launch, self._rows, self._findings)
        self.clear()
        return results
