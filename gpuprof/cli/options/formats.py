"""The --format of every command that prints in several formats."""

from gpuprof.cli.options.option import Option
from gpuprof.cli.options.value_types import NearChoice

TEXT = "text"


def format_option(*, group: str = "", **formats: str) -> Option:
    """The option, by default text. `formats`: each other format, with the words on it in the help."""
    meanings = ", ".join(f"{name} ({meaning})" for name, meaning in formats.items())
    text = f"How to print: text, {meanings}."
    return Option("--format", "format_", text, type=NearChoice((TEXT, *formats)), default=TEXT, group=group)
