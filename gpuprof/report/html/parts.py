"""The files of the package that a page is put together from."""

from pathlib import Path

HERE = Path(__file__).parent


def read_part(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def template() -> str:
    return read_part(HERE / "page.html")


def styles() -> list[str]:
    return [read_part(path) for path in sorted((HERE / "style").glob("*.css"))]


def modules() -> dict[str, str]:
    """The modules of the script, by name."""
    return {path.stem: read_part(path) for path in sorted((HERE / "script").glob("*.js"))}
