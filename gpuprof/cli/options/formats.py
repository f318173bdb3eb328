"""The --format of every command that prints in several, and its short forms."""

from collections.abc import Callable
from functools import wraps

import click

from gpuprof.cli.options.near_choice import NearChoice
from gpuprof.errors import UsageError

TEXT = "text"


def format_option(*others: str, **formats: str) -> Callable:
    """Gives a command --format, by default text, and --NAME for each of `formats`, whose values end the help "Short for
    --format NAME, ...". What was chosen is the command's argument `format_`; two that differ are a UsageError. `others`
    are formats without a short form of this kind.
    """

    def with_options(command: Callable) -> Callable:
        @wraps(command)
        def with_format(*, format_, **arguments):
            asked = {} if format_ is None else {f"--format {format_}": format_}
            asked |= {f"--{name}": name for name in formats if arguments.pop(f"as_{name}")}
            if len(set(asked.values())) > 1:
                raise UsageError(f"{' and '.join(asked)} exclude each other: give one")
            return command(format_=next(iter(asked.values()), TEXT), **arguments)

        for name, text in reversed(formats.items()):
            help_text = f"Short for --format {name}, {text}."
            with_format = click.option(f"--{name}", f"as_{name}", is_flag=True, help=help_text)(with_format)
        choice = NearChoice((TEXT, *formats, *others))
        return click.option("--format", "format_", type=choice, help="How to print.  [default: text]")(with_format)

    return with_options
