"""The table of docs/model/hosts.md, from the host files. `python -m tests.hosts.page` writes it again."""

from gpuprof.hosts import list_hosts, load_host
from gpuprof.hosts.fields import FIELDS, Field
from tests.paths import DOCS

PAGE = DOCS / "model" / "hosts.md"
BEGIN, END = "<!-- numbers -->\n", "<!-- end of numbers -->\n"


def table() -> str:
    """A row for each number: its value on each host, and its meaning."""
    hosts = [load_host(name) for name in list_hosts()]
    fields = [field for field in FIELDS if field.name not in ("notes", "link")]
    rows = [
        ("number", *(host.name for host in hosts), "meaning"),
        ("---", *["--:"] * len(hosts), "---"),
        *((f"`{field.name}`", *(cell(host, field) for host in hosts), field.meaning) for field in fields),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def cell(host, field: Field) -> str:
    value = host.values[field.name]
    shown = f"{value:,}" if field.kind == "int" else f"{value:,g}"
    return f"~{shown}" if host.sources[field.name].startswith("estimated") else shown


def with_table(page: str) -> str:
    """The page with its table as it is to be."""
    before, rest = page.split(BEGIN, 1)
    return before + BEGIN + table() + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
