"""Markdown as GitHub and GitLab show it: rows of tables, and text of users as itself."""

from gpuprof.isa.printing.printable import printable

MARKED = "\\`*_{}[]<>()#+!|~"  # letters that Markdown takes for more than themselves


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def escaped(raw: str) -> str:
    """Any text as itself."""
    return "".join(f"\\{letter}" if letter in MARKED else letter for letter in printable(raw))
