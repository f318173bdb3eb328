"""Arguments behind `--`, which are not gpuprof's own."""

import click

from gpuprof.cli.options.grouping import GroupedCommand

KEY = "gpuprof.arguments behind --"


class WithArguments(GroupedCommand):
    """A command whose line is split at its first `--` before options are parsed. Where no file stands before it, it
    protects a file's name that begins with a dash, as it does elsewhere, and the next `--` splits the line.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = _place(args, 0)
        if own < len(args) and not self._names_a_file(ctx, args[:own]):
            own = _place(args, own + 1)
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


def _place(args: list[str], start: int) -> int:
    """Of the next `--`; the end when there is none."""
    return args.index("--", start) if "--" in args[start:] else len(args)


def arguments_behind() -> tuple[str, ...]:
    """What stands behind `--` in the line of the command that runs."""
    return click.get_current_context().meta[KEY]
