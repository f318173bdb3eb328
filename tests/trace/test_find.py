"""Trace generators by name, their options, what --trace says, and what a generator may declare."""

import re

import pytest

import gpuprof.trace.generators
from gpuprof.errors import UsageError
from gpuprof.tables.table import Column, Table
from gpuprof.trace.find import BUILT_IN, CHECKERS, Spec, find, make, parse_spec
from gpuprof.trace.generator import Option, TraceGenerator, name_of, options_of, text_of
from gpuprof.trace.tables import Finding, Gathering, check_table
from tests.paths import DOCS, ROOT


def test_every_file_with_a_generator_is_in_the_table():
    folder = ROOT / "gpuprof/trace"
    named = re.compile(r'^    name = "(\w+)"$', re.MULTILINE)
    found = {
        (".".join(path.relative_to(folder).with_suffix("").parts), name)
        for room in ("generators", "checkers")
        for path in (folder / room).rglob("*.py")
        for name in named.findall(path.read_text())
    }
    assert {(file, name) for name, (file, _) in BUILT_IN.items()} == found
    assert gpuprof.trace.generators.__doc__


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_generator_says_what_it_is(name):
    found = find(name)
    assert name_of(found) == name
    assert text_of(found)
    assert all(option.meaning for option in options_of(found).values())
    assert all(column.text for table in found.tables for column in table.columns)


@pytest.mark.parametrize("name", BUILT_IN)
def test_docs_have_every_generator(name):
    assert re.search(rf"^\| `{name}` \|", (DOCS / "traces.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", CHECKERS)
def test_every_checker_has_its_section_and_its_planted_errors(name):
    assert re.search(rf"^## {name}$", (DOCS / "checkers.md").read_text(), re.MULTILINE)
    assert "\ndef test_planted(" in (ROOT / "tests" / "checkers" / f"test_{name}.py").read_text()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("mix", Spec("mix", {}, "")),
        ("mix:kernel=^k,launch=0,2-3", Spec("mix", {}, "kernel=^k launch=0,2-3")),
        ("cache:ways=4,skip=1", Spec("cache", {"ways": "4"}, "skip=1")),
        ("a/my.py:Mine", Spec("a/my.py:Mine", {}, "")),
        ("my.py:Mine:x=1", Spec("my.py:Mine", {"x": "1"}, "")),
    ],
)
def test_what_a_flag_says(text, expected):
    assert parse_spec(text) == expected


@pytest.mark.parametrize(
    "text, message",
    [
        ("mix:x", "--trace 'mix:x': expected KEY=VALUE after the name, not 'x'"),
        ("mix:x=1,x=2", "--trace 'mix:x=1,x=2': x is given twice"),
    ],
)
def test_what_a_flag_cannot_say(text, message):
    with pytest.raises(UsageError) as error:
        parse_spec(text)
    assert str(error.value) == message


def test_an_unknown_name_has_a_suggestion():
    with pytest.raises(UsageError, match="no trace generator 'adresses'; did you mean addresses"):
        find("adresses")


FILE = """\
from gpuprof.trace import TraceGenerator
import neighbour

class Mine(TraceGenerator):
    '''Is mine.'''

Other = int
"""


def test_a_class_of_a_file(tmp_path):
    (tmp_path / "my.py").write_text(FILE)
    (tmp_path / "neighbour.py").write_text("")
    found = find(f"{tmp_path}/my.py:Mine")
    assert (name_of(found), text_of(found)) == ("mine", "Is mine")


@pytest.mark.parametrize(
    "what, message",
    [
        ("my.py:Nothing", "my.py: it has no class 'Nothing'"),
        ("my.py:Other", "my.py:Other is not a subclass of gpuprof.trace.TraceGenerator"),
        ("none.py:Mine", "none.py: there is no such file"),
        ("broken.py:Mine", "broken.py: ZeroDivisionError: division by zero"),
        ("exits.py:Mine", "exits.py: SystemExit: 3"),
        ("my.py", "--trace 'my.py' names no class; write my.py:CLASS"),
    ],
)
def test_a_class_that_cannot_be_used(tmp_path, monkeypatch, what, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(FILE)
    (tmp_path / "neighbour.py").write_text("")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(UsageError) as error:
        find(what)
    assert str(error.value) == message


DATACLASS = """
from __future__ import annotations
from dataclasses import dataclass
from gpuprof.trace import TraceGenerator

@dataclass
class Note:
    count: int

class Notes(TraceGenerator):
    note = Note(3)
"""


def test_a_file_may_declare_dataclasses(tmp_path):
    """dataclasses look a class's module up by its name."""
    (tmp_path / "notes.py").write_text(DATACLASS)
    assert find(f"{tmp_path}/notes.py:Notes").note.count == 3


INITS = """
from gpuprof.trace import TraceGenerator

class Forgets(TraceGenerator):
    def __init__(self):
        self.count = 0

class Wants(TraceGenerator):
    def __init__(self, more):
        super().__init__()
"""


@pytest.mark.parametrize(
    "name, message",
    [
        ("Forgets", "Forgets: its __init__ does not call super().__init__(**options)"),
        ("Wants", "Wants: TypeError: Wants.__init__() missing 1 required positional argument: 'more'"),
    ],
)
def test_an_init_of_its_own(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inits.py").write_text(INITS)
    with pytest.raises(UsageError) as error:
        make(parse_spec(f"inits.py:{name}"))
    assert str(error.value) == f"trace generator inits.py:{message}"


class Optional(TraceGenerator):
    """Has options."""

    ways = Option(4, "lines of a set")
    share = Option(0.5, "of the cache")
    policy = Option("lru", "who leaves")
    exact = Option(False, "whether it is exact")


def test_options_have_the_type_of_their_default():
    plain, given = Optional(), Optional(ways="8", share="0.25", policy="fifo", exact="yes")
    assert [plain.ways, plain.share, plain.policy, plain.exact] == [4, 0.5, "lru", False]
    assert [given.ways, given.share, given.policy, given.exact] == [8, 0.25, "fifo", True]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"ways": "many"}, "option ways is 'many': expected a whole number"),
        ({"exact": "maybe"}, "option exact is 'maybe': expected a yes or no"),
        ({"size": "1"}, "optional has no option 'size'; its options are: ways, share, policy, exact"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(UsageError) as error:
        Optional(**options)
    assert str(error.value) == message


def test_options_of_a_flag_reach_the_generator():
    assert make(parse_spec("addresses:most=7")).most == 7


COLUMNS = (
    Column("pc", "integer", "", "where"),
    Column("share", "real", "", "how much"),
    Column("name", "text", "", ""),
)


@pytest.mark.parametrize(
    "table, message",
    [
        (Table("Big", "", COLUMNS), "'Big' is no name"),
        (Table("t", "", (*COLUMNS, COLUMNS[0])), "its columns need different names"),
        (Table("t", "", (Column("launch", "integer", "", ""),)), "none may be called launch"),
        (Table("t", "", (Column("x", "float", "", ""),)), "column x has type 'float'; one of integer, real, text"),
    ],
)
def test_tables_that_cannot_be(table, message):
    with pytest.raises(UsageError, match=message):
        check_table(table)


TABLE = Table("t", "", COLUMNS)


def test_a_kind_that_there_is_not():
    class Wrong(TraceGenerator):
        kinds = ("loads",)

    with pytest.raises(UsageError, match="'loads' is not a kind of instruction; did you mean load"):
        Wrong()


@pytest.mark.parametrize(
    "attributes, message",
    [
        ({"spaces": ("shard",)}, "'shard' is not a space; did you mean shared?"),
        ({"kinds": "store"}, "kinds is 'store': expected a tuple of texts, as in (first, second) or (only,)"),
        ({"opcodes": "LDG.*"}, "opcodes is 'LDG.*': expected a tuple of texts, as in (first, second) or (only,)"),
        ({"tables": ("t",)}, "tables is ('t',): expected a tuple of tables, as in (first, second) or (only,)"),
        ({"tables": (TABLE, TABLE)}, "its tables need different names, not t, t"),
    ],
)
def test_attributes_that_cannot_be(attributes, message):
    with pytest.raises(UsageError) as error:
        type("Wrong", (TraceGenerator,), attributes)()
    assert str(error.value) == f"trace generator wrong: {message}"


def test_one_table_or_column_is_no_tuple():
    with pytest.raises(UsageError, match=r"trace generator wrong: tables is Table\(.*expected a tuple of tables"):
        type("Wrong", (TraceGenerator,), {"tables": TABLE})()
    with pytest.raises(UsageError, match=r"table 't': columns is Column\(.*expected a tuple of columns"):
        check_table(Table("t", "", COLUMNS[0]))


def test_a_finding_has_no_such_field():
    with pytest.raises(UsageError, match="a finding has no field 'adress'; did you mean address"):
        TraceGenerator().find("bad", "note", "", adress=3)


@pytest.mark.parametrize(
    "row, message",
    [
        ((1, 2.0), "table 't' has 3 columns, and a row of 2 values"),
        ((1.0, 2.0, ""), "table 't': column pc is 1.0: expected an integer of 64 bits"),
        ((1, float("nan"), ""), "table 't': column share is nan: expected a finite number"),
        ((1 << 63, 0.0, ""), "table 't': column pc is 9223372036854775808: expected an integer of 64 bits"),
    ],
)
def test_rows_that_do_not_fit(row, message):
    gathering = Gathering((Table("t", "", COLUMNS),))
    with pytest.raises(UsageError) as error:
        gathering.add("t", [row])
    assert str(error.value) == message


@pytest.mark.parametrize(
    "finding, message",
    [
        (Finding("Bad", "note", ""), "a finding of kind 'Bad'"),
        (Finding("bad", "fatal", ""), "a finding of severity 'fatal'; one of error, warning, note"),
        (Finding("bad", "note", "", pc=-2), "a finding with pc -2: expected an integer from -1 on"),
        (Finding("bad", "note", "", pc=1 << 40), "with pc 1099511627776: code addresses are below 0x10000000000"),
        (Finding("bad", "note", "", allocation=1), "a finding with allocation 1: expected a text"),
    ],
)
def test_findings_that_cannot_be(finding, message):
    with pytest.raises(UsageError, match=message):
        finding.checked()
