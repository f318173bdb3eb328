"""Differences that are allowed between two checkouts that compute the same: names, versions, and wording.

A commit that renames a table, a column or a key enters the old and the new name in RENAMES. Names that are not here
must be the same.
"""

from collections.abc import Mapping

# A value is named TABLE.COLUMN in a database and in the HTML page's data, CHUNK.KEY in a recording, stream.KEY in its
# saved stream, program.KEY in a program, json.KEY in reports and exports, and LEND.METRIC as a metric of a launch.

# Kind of name -> old name -> new name.
#   chunk    the type of a chunk of a recording
#   table    a table or view of a database, or a table of the HTML page's data
#   column   TABLE.COLUMN, by the old names -> the new name of the column
#   key      CHUNK.KEY and so on, with the new type of the chunk -> the new key
#   source   the path of a source file, such as a header that gpuprof ships
#   text     any other text that is compared as a whole: a kind of task, a line of a CSV
RENAMES: dict[str, dict[str, str]] = {"chunk": {}, "table": {}, "column": {}, "key": {}, "source": {}, "text": {}}

# The sets below have new names.

# Command lines, versions, and descriptions of columns, reasons and units are not compared.
MASKED = frozenset(
    {
        *("META.command", "META.tool_version", "TRAC.text", "stream.version"),
        *("meta.command", "meta.tool_version"),
        *("trace_tables.text", "trace_columns.text", "stall_reasons.text", "relation_kinds.text"),
        *("cause_kinds.label", "cause_kinds.text"),
        *("facts.label", "terms.text", "terms.advice", "summary.label", "numbers.text"),
        *("ceilings.label", "ceilings.text"),
        *("json.version", "json.tool_version", "json.command", "json.exporter"),
    }
)

# Sentences for people: only their numbers are compared.
PROSE = frozenset(
    {
        *("META.fidelity", "meta.fidelity", "FIND.text", "findings.text"),
        *("facts.text", "summary.text", "advice.text", "limits.text", "blames.ending"),
        *("json.text", "json.fidelity", "json.alike", "json.notes", "json.advice"),
    }
)

# Program text: comments are not compared, since their wording may change. The number of lines is.
CODE = frozenset({"SRCF.text", "sources.text", "rows.text", "modules.ptx"})

# Sections of a .gpubin that may come or go: facts that are comments in PTX texts in one version and a section in
# another.
MOVED_SECTIONS = frozenset({".gpuprof.facts"})


class Names:
    """The new names of what one side has."""

    def __init__(self, renames: Mapping[str, Mapping[str, str]] | None = None):
        self._renames = renames or {}

    def of(self, kind: str, name: str) -> str:
        return self._renames.get(kind, {}).get(name, name)

    def column(self, table: str, column: str) -> str:
        return self._part("column", table, column)

    def key(self, whole: str, key: str) -> str:
        return self._part("key", whole, key)

    def _part(self, kind: str, whole: str, part: str) -> str:
        return self._renames.get(kind, {}).get(f"{whole}.{part}", part)


SAME_NAMES = Names()
