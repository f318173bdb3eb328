"""The files of the package that a page is put together from."""

from pathlib import Path

HERE = Path(__file__).parent


def read_part(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def template() -> str:
    return read_part(HERE / "page.html")


LAST = "print.css"  # it takes back what others say of the screen


def styles() -> list[str]:
    paths = sorted((HERE / "style").glob("*.css"), key=lambda path: (path.name == LAST, path.name))
    return [read_part(path) for path in paths]


def modules() -> dict[str, str]:
    """The modules of the script, by name."""
    return {path.stem: read_part(path) for path in sorted((HERE / "script").glob("*.js"))}
