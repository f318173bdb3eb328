"""Arguments behind `--`, which are not gpuprof's own."""

import click

from gpuprof.cli.options.grouping import GroupedCommand

KEY = "gpuprof.arguments behind --"


class WithArguments(GroupedCommand):
    """A command whose line is split at its first `--` before options are parsed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = args.index("--") if "--" in args else len(args)
        ctx.meta[KEY] = tuple(args[own + 1 :])
        return super().parse_args(ctx, args[:own])


def arguments_behind() -> tuple[str, ...]:
    """What stands behind `--` in the line of the command that runs."""
    return click.get_current_context().meta[KEY]
