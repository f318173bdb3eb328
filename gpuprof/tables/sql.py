"""SQL from the declarations: definitions of tables, and statements to fill them."""

from collections.abc import Iterable, Iterator

from gpuprof.tables.order import STORED
from gpuprof.tables.table import Column, Table


def ddl(tables: Iterable[Table] = STORED) -> str:
    """The statements that create the tables. The comments stay in the schema that SQLite stores."""
    return "".join(line + "\n" for table in tables for line in (*_definition(table), *index_definitions(table)))


def _definition(table: Table) -> Iterator[str]:
    columns = table.in_database
    yield f"CREATE TABLE {table.name} ( -- {table.text}"
    last = None if len(table.key) > 1 else columns[-1]
    for column in columns:
        comma = "" if column is last else ","
        yield f"    {column.name} {rules(table, column)}{comma} -- {comment(column)}"
    if len(table.key) > 1:
        yield f"    PRIMARY KEY ({', '.join(table.key)})"
    yield f"){' WITHOUT ROWID' if _has_no_rowid(table) else ''};"


def rules(table: Table, column: Column) -> str:
    """Type and constraints of a column."""
    words = [column.sql_type]
    if table.key == (column.name,):
        words.append("PRIMARY KEY")
    elif not column.null:
        words.append("NOT NULL")
    words.append(column.sql)
    if column.parent:
        words.append(f"REFERENCES {column.parent}")
    return " ".join(filter(None, words))


def comment(column: Column) -> str:
    return f"{column.text} [{column.unit}]" if column.unit else column.text


def _has_no_rowid(table: Table) -> bool:
    """The primary key is no row number: it has several columns, or a text."""
    types = {column.name: column.sql_type for column in table.in_database}
    return bool(table.key) and [types[name] for name in table.key] != ["INTEGER"]


def index_definitions(table: Table) -> list[str]:
    """The statements that create a table's indexes."""
    return [f"CREATE INDEX {name} ON {table.name} ({column});" for name, column in table.indexes]


def insertion(table: Table) -> str:
    """The statement that inserts a row."""
    return f"INSERT INTO {table.name} VALUES ({','.join('?' * len(table.in_database))})"
