"""Arguments after `--`, which belong to a program or a script."""

import click

from gpuprof.cli.options.help_page import GroupedCommand

KEY = "gpuprof.arguments after --"


class WithArguments(GroupedCommand):
    """A command whose line is split at its first `--` before options are parsed. If no file comes before that `--`, it
    protects a file's name that begins with a dash, like in other programs, and the next `--` splits the line.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = _next_dashes(args, 0)
        if own < len(args) and not self._names_a_file(ctx, args[:own]):
            own = _next_dashes(args, own + 1)
        ctx.meta[KEY] = tuple(args[own + 1 :])
        return super().parse_args(ctx, args[:own])

    def _names_a_file(self, ctx: click.Context, args: list[str]) -> bool:
        try:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
        except click.UsageError:  # it is raised again, and shown, by the command's own parser
            return True
        first = next(each.name for each in self.params if isinstance(each, click.Argument))
        value = given[first]
        return isinstance(value, (str, tuple)) and bool(value)


def _next_dashes(args: list[str], start: int) -> int:
    """The position of the next `--`; the end when there is none."""
    return args.index("--", start) if "--" in args[start:] else len(args)


def arguments_after_dashes() -> tuple[str, ...]:
    """The arguments after `--` in the line of the command that runs."""
    return click.get_current_context().meta[KEY]
