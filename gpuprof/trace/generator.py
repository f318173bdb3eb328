"""TraceGenerator, the base class: a generator declares what it needs, receives events, and adds rows and findings."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from gpuprof.base.compared_results import NAME
from gpuprof.base.wording import suggestion
from gpuprof.errors import UsageError
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.opcodes import SPACES
from gpuprof.tables.table import Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.kernel import Code, Instruction, Kernel
from gpuprof.trace.tables import Finding, Gathering, Results, check_table, check_tuple


class Option:
    """A number or text that users may set: `ways = Option(4, "lines of a set")`. Its type is that of the default."""

    def __init__(self, default: int | float | str | bool, meaning: str):
        self.default, self.meaning, self.name = default, meaning, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        return self if instance is None else self.default

    def value(self, given: Any) -> Any:
        """A value of the option's type, from a value or its text. Raises UsageError for another."""
        kind = type(self.default)
        if kind is bool:
            words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
            if str(given).lower() in words:
                return words[str(given).lower()]
        else:
            try:
                return kind(given)
            except ValueError:
                pass
        raise UsageError(f"option {self.name} is {given!r}: expected a {_NAMES[kind]}")


_NAMES = {int: "whole number", float: "number", str: "text", bool: "yes or no"}


class TraceGenerator:
    """Watches launches. The first sentence of a generator's docstring describes its output.

    Class attributes declare what it needs; nothing else is computed. An instruction is selected if it matches all of
    `kinds` (of isa.kinds), `opcodes` (names, with * and ?) and `spaces` (state spaces) that are not empty.

    * `blocks`: `event` gets runs of whole basic blocks in place of instructions, and there is no `post_event`.
    * `post_kinds`: `post_event` is called only for these kinds; empty for all selected ones.
    * `values`: operands are available in `post_event`, too.
    * `refuses`: it may disable the access of lanes (TraceEvent.refuse), and kernels continue without forbidden accesses
      (`refused`).

    A generator may be used for many launches, one after the other.
    """

    name: ClassVar[str] = ""  # of the generator; empty: the class's, in small letters
    kinds: ClassVar[tuple[str, ...]] = ()
    opcodes: ClassVar[tuple[str, ...]] = ()
    spaces: ClassVar[tuple[str, ...]] = ()
    post_kinds: ClassVar[tuple[str, ...]] = ()
    blocks: ClassVar[bool] = False
    values: ClassVar[bool] = False
    refuses: ClassVar[bool] = False
    is_checker: ClassVar[bool] = False  # its findings are errors of the program
    checks_host: ClassVar[bool] = False  # it also reports errors of the host with memory
    finds_leaks: bool = False  # and allocations that exist at the end
    compares_launches: ClassVar[bool] = False  # the memory touched by a launch is compared with other commands
    touched: Any = None  # then, when `finish` has returned: rows of races.touched_lines
    shadow: Any = None  # device.memory.Shadow: its shadow of global memory, also between launches
    guard_nbytes: int = 0  # bytes between allocations, if it is attached before the first of them
    tables: ClassVar[tuple[Table, ...]] = ()

    def __init__(self, **options: Any):
        """Raises UsageError for an option that it does not have, or a wrong value."""
        known = options_of(type(self))
        for name, given in options.items():
            if name not in known:
                near = suggestion(name, known) or f"its options are: {', '.join(known) or 'none'}"
                raise UsageError(f"{name_of(type(self))} has no option {name!r}; {near}")
            setattr(self, name, known[name].value(given))
        check(type(self))
        self.results: list[Results] = []  # of the launches so far
        self._gathering = Gathering(self.tables)

    @property
    def is_ready(self) -> bool:
        """True if __init__ has run: a class with its own may forget to call it."""
        return "_gathering" in vars(self)

    def again(self) -> "TraceGenerator":
        """A new generator with the same options."""
        return type(self)(**{name: getattr(self, name) for name in options_of(type(self))})

    # Calls, in the order of a launch. A generator overrides those that it needs.

    def initialize(self, kernel: Kernel) -> None:
        """A launch begins. Results that need no execution can be added here."""

    def passes(self, number: int) -> bool:
        """True if an instruction, given by its number, need not be reported this time. Called before each `event`
        without a `post_event`, if it is overridden; the event may still be reported.
        """
        return False

    def wants_too(self, code: Code) -> Iterable[int]:
        """Numbers of additional instructions of a module that it needs: the same for all generators of its class."""
        return ()

    def event(self, event: TraceEvent) -> None:
        """Warps are about to execute an instruction: addresses are known, results are not."""

    def refused(self, event: TraceEvent, wrong: Any) -> None:
        """Called between `event` and `post_event`, for a generator with `refuses`: the instruction skips memory that it
        must not touch, which only its execution reveals (kinds in kernel.RANGED). `wrong` has `kind` (a key of
        memcheck.KINDS_REFUSED), `space`, arrays `warps`, rows of the event, and `lanes`, and for the first of these
        `address` and a `text`.
        """

    def post_event(self, event: TraceEvent) -> None:
        """Warps have executed an instruction."""

    def fault(self, text: str) -> None:
        """A fault has ended the launch; `finish` follows."""

    def finish(self) -> None:
        """The launch has ended, or a fault has ended it."""

    # Output

    def add_rows(self, table: str, rows) -> None:
        """Adds rows to a declared table: values in the order of its columns."""
        self._gathering.add(table, rows)

    def add_row(self, table: str, *values: object) -> None:
        self._gathering.add(table, [values])

    def find(self, kind: str, severity: str, text: str, **where: Any) -> None:
        """Adds a finding; `where`: the fields of tables.Finding."""
        for field in where:
            if field not in Finding._fields:
                near = suggestion(field, Finding._fields) or f"it has {', '.join(Finding._fields)}"
                raise UsageError(f"a finding has no field {field!r}; {near}")
        self._gathering.find(Finding(kind, severity, text, **where))

    def end_launch(self, launch: int) -> Results:
        """All results of a launch. Called when `finish` has returned."""
        self.results.append(self._gathering.take(launch))
        return self.results[-1]


def name_of(generator: type[TraceGenerator]) -> str:
    return generator.name or generator.__name__.lower()


def text_of(generator: type[TraceGenerator]) -> str:
    """The first sentence of a generator's docstring."""
    text = " ".join((generator.__doc__ or "").split())
    return text.split(". ")[0].rstrip(".")


def options_of(generator: type[TraceGenerator]) -> dict[str, Option]:
    attributes = {name: value for base in reversed(generator.__mro__) for name, value in vars(base).items()}
    return {name: value for name, value in attributes.items() if isinstance(value, Option)}


def check(generator: type[TraceGenerator]) -> None:
    """Raises UsageError for a class with an invalid declaration."""
    name = name_of(generator)
    if not NAME.fullmatch(name):
        raise UsageError(f"trace generator {name!r}: its name needs a-z, 0-9 and _, 40 characters at most")
    for attribute, of in (("kinds", str), ("post_kinds", str), ("opcodes", str), ("spaces", str), ("tables", Table)):
        check_tuple(f"trace generator {name}: {attribute}", getattr(generator, attribute), of)
    for given, known, what in (
        (generator.kinds, KINDS, "kind of instruction"),
        (generator.post_kinds, KINDS, "kind of instruction"),
        (generator.spaces, SPACES, "space"),
    ):
        for word in given:
            if word not in known:
                near = suggestion(word, known) or f"there are {', '.join(known)}"
                raise UsageError(f"trace generator {name}: {word!r} is not a {what}; {near}")
    for table in generator.tables:
        check_table(table)
    tables = [table.name for table in generator.tables]
    if len(set(tables)) < len(tables):
        raise UsageError(f"trace generator {name}: its tables need different names, not {', '.join(tables)}")


def overrides(generator: TraceGenerator, call: str) -> bool:
    return getattr(type(generator), call) is not getattr(TraceGenerator, call)


def wanted(generator: TraceGenerator, instructions: tuple[Instruction, ...]) -> Iterator[int]:
    """Numbers of the instructions that the generator wants."""
    kinds, opcodes, spaces = generator.kinds, generator.opcodes, generator.spaces
    for instruction in instructions:
        if kinds and instruction.kind not in kinds:
            continue
        if spaces and not _touches(instruction, spaces):
            continue
        if opcodes and not any(fnmatchcase(instruction.opcode, pattern) for pattern in opcodes):
            continue
        yield instruction.number


GENERIC = ("global", "shared", "local", "param")  # spaces of generic addresses


def _touches(instruction: Instruction, spaces: tuple[str, ...]) -> bool:
    space = instruction.space
    if space == "generic":
        return any(each in spaces for each in (*GENERIC, "generic"))
    if space == "global" and instruction.operation == "copy":
        return "global" in spaces or "shared" in spaces
    return space in spaces
